// Work of the agent's own that a fault of memory ends, and not the program.
//
// What it was about to change stays half done, and is not to be used again; locks that it held are held for good. It needs the signal
// handlers of channel/crash_mark.h: where the program has set its own since, a fault goes to these, as without us.
//
// Threads: any whose SIGSEGV and SIGBUS are not blocked. Such work may contain more of it: the innermost ends.
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
