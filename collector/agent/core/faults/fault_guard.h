// Work of the agent's own: a fault or abort() ends the work instead of the program.
//
// Data that the work was changing stays half done and must not be used again; locks that it held stay locked for good. The guard needs the signal handlers of
// process/crash_mark.h: if the program has set its own since, a fault goes to these, as without us.
//
// Threads: any whose SIGSEGV, SIGBUS, SIGILL and SIGFPE are not blocked. Guarded work may be nested; the innermost ends.
#pragma once

namespace lanescope::agent {

class HeldLocks;

enum class Guarded { kDone, kFaulted };

// `locks`: tracks the locks that the work takes (core/faults/held_locks.h); null: the tracker of the enclosing work is used.
Guarded run_guarded(void (*work)(void*), void* argument, HeldLocks* locks = nullptr) noexcept;

template <typename Work>
Guarded run_guarded(Work work, HeldLocks* locks = nullptr) noexcept {
  return run_guarded([](void* own) { (*static_cast<Work*>(own))(); }, &work, locks);
}

// The tracker of the work that this thread is doing; null if it has none.
[[nodiscard]] HeldLocks* locks_of_guarded_work() noexcept;

// For a handler of such a signal that the thread caused itself. Does not return if the signal comes from guarded work.
void leave_guarded_work() noexcept;

}  // namespace lanescope::agent
