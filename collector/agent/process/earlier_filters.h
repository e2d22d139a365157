// Filters of system calls (seccomp(2)) that were there before the agent, in a program that was started with them or whose first recorded call comes after them.
//
// From within, a filter that has the kernel end the process can't be told from one that answers with an error. So a process with more filters than the recorder
// itself, as in a container, or than an agent has examined (call_filters.h), is left alone, as if its filters forbade everything. So is one that has no /proc,
// by which they are counted, as in many sandboxes. The count of the known filters is in the environment (channel::kFiltersVariable), and so is the agent's
// answer, which the recorder reads there.
#pragma once

namespace lanescope::agent {

// Makes no system calls but those by which the loader has just loaded the agent. Call it while the agent is loaded, before anything else of the agent.
void look_at_earlier_filters() noexcept;

// True if this process has no other thread. False if it has, or if that can't be found out: without /proc, or behind a filter that forbids it.
bool is_only_thread() noexcept;

// The programs that this process and its children become may take one filter more for harmless. Requires: the filter holds for all threads. Whoever counted one
// that a single thread has would take another thread's filter, which nobody has examined, for that one.
void note_harmless_filter() noexcept;

// Takes our libraries out of LD_PRELOAD for the programs that this process becomes, as far as the program passes its environment on: to find them, the loader
// makes a system call (readlink) that those programs would not make without us. If even loading a library later is forbidden there, NVTX does not find our own.
void keep_libraries_out_of_programs() noexcept;

}  // namespace lanescope::agent
