// Work of the agent's own that a fault of memory ends, and not the program.
//
// For work that holds nothing which others wait for. What it was about to change stays half done, and is not to be used again. It needs the
// signal handlers of channel/crash_mark.h: where the program has set its own since, a fault goes to these, as without us.
//
// Threads: one for the process, whose signals are blocked.
#pragma once

namespace lanescope::agent {

enum class Guarded { kDone, kFaulted };

Guarded run_guarded(void (*work)(void*), void* argument) noexcept;

template <typename Work>
Guarded run_guarded(Work work) noexcept {
  return run_guarded([](void* own) { (*static_cast<Work*>(own))(); }, &work);
}

// For a handler of SIGSEGV and SIGBUS: does not return where the fault is of guarded work.
void leave_guarded_work() noexcept;

}  // namespace lanescope::agent
