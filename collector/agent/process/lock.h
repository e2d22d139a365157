// A mutual exclusion lock of the agent's own: nothing of it is the C library's, whose locks the agent stands before.
//
// It needs no construction, can be forgotten in a forked child, and is never lost for good: where its holder's thread has ended, or has
// left what it did by a fault, the next one takes it over, and finds what it guards as that one left it. Signal handlers do not run on a
// thread that holds one (ScopedLock).
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/process/held_signals.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent {

class Lock {
 public:
  constexpr Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // Requires: the program's signals are held.
  void lock() noexcept {
    const std::uint32_t self = this_thread_id();
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, self, std::memory_order_acquire)) wait(self);
  }
  void unlock() noexcept {
    // This thread forks, and unlock_behind_fork() does that, or another one has taken it over meanwhile.
    if ((word_.load(std::memory_order_relaxed) & ~kAwaited) != this_thread_id()) return;
    if ((word_.exchange(0, std::memory_order_release) & kAwaited) != 0) system::futex_wake(&word_, 1);
  }

  // For a thread that is about to fork, so that what it guards is whole in the child. The program's own preparations come behind that, and may wait for
  // who waits for this lock: so another thread takes it over 100 ms later (kForkPatience), and what it guards is then in the child as that one leaves it.
  // The thread itself may lock it meanwhile.
  // Requires: the program's signals are held.
  void lock_to_fork() noexcept;
  void unlock_behind_fork() noexcept;  // does nothing where it was taken over

  // In a forked child alone: whoever held it does not exist there.
  void forget_holder() noexcept { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kAwaited = 0x8000'0000;
  static constexpr std::uint32_t kToFork = 0x4000'0000;

  void wait(std::uint32_t self) noexcept;

  std::atomic<std::uint32_t> word_{0};  // kernel thread id of the holder, kAwaited where others may sleep, kToFork where it forks; 0: free
};

class [[nodiscard]] ScopedLock {
 public:
  explicit ScopedLock(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~ScopedLock() { lock_.unlock(); }
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;

 private:
  HeldSignals held_;  // until the lock is free again
  Lock& lock_;
};

}  // namespace lanescope::agent
