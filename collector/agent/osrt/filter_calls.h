// prctl() and syscall(), by which a process forbids itself system calls. Before it does, the agent joins the recording and sets NVTX up; afterwards it
// remembers what it must not do any more (process/call_filters.h). A thread that enters the strict mode is left alone.
#pragma once

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent::osrt {

// True if syscall(number, first, ...) installs a filter.
bool installs_filter(long number, long first) noexcept;

// Does the work of the call through `next`, which is syscall(). Requires: installs_filter(number, a).
long install_filter(long (*next)(long, ...), long number, long a, long b, long c, long d, long e) noexcept;

// True if this thread has a harmless filter that other threads lack. The agent leaves the programs alone that it becomes (process/earlier_filters.h).
bool has_filter_of_its_own() noexcept;

// For prctl(), in files whose calls were bound to the C library's.
Redirection redirected_prctl() noexcept;

}  // namespace lanescope::agent::osrt
