// Work of the agent's own that a fault ends, or abort(), and not the program.
//
// What it was about to change stays half done, and is not to be used again; locks that it held are held for good. It needs the signal
// handlers of process/crash_mark.h: where the program has set its own since, a fault goes to these, as without us.
//
// Threads: any whose SIGSEGV, SIGBUS, SIGILL and SIGFPE are not blocked. Such work may contain more of it: the innermost ends.
#pragma once

namespace lanescope::agent {

class HeldLocks;

enum class Guarded { kDone, kFaulted };

// `locks`: what sees the locks that the work takes (core/faults/held_locks.h); null: what sees those of the work around it.
Guarded run_guarded(void (*work)(void*), void* argument, HeldLocks* locks = nullptr) noexcept;

template <typename Work>
Guarded run_guarded(Work work, HeldLocks* locks = nullptr) noexcept {
  return run_guarded([](void* own) { (*static_cast<Work*>(own))(); }, &work, locks);
}

// Of the work that this thread is at; null: of none.
[[nodiscard]] HeldLocks* locks_of_guarded_work() noexcept;

// For a handler of such a signal that the thread caused itself: does not return where it comes from guarded work.
void leave_guarded_work() noexcept;

}  // namespace lanescope::agent
