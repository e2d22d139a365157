// A mutual exclusion lock of the agent's own. It uses nothing of the C library's locks, because the agent stands before those functions.
//
// It needs no construction. It is never lost for good: if its holder's thread has ended, or has left its work by a fault, the next thread takes it over and
// finds the guarded data as the holder left it. In a forked child, however it was made, every lock is free: a holder belongs to its process (process_number()).
// Signal handlers do not run on a thread that holds a lock (ScopedLock).
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/process/held_signals.h"

namespace lanescope::agent {

class Lock {
 public:
  constexpr Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // Requires: the program's signals are held.
  void lock() noexcept {
    const std::uint32_t self = this_holder();
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, self, std::memory_order_acquire)) wait(self);
  }
  void unlock() noexcept {
    // Either this thread forks, and unlock_behind_fork() unlocks, or another thread has taken the lock over in the meantime.
    if ((word_.load(std::memory_order_relaxed) & ~kAwaited) != this_holder()) return;
    if ((word_.exchange(0, std::memory_order_release) & kAwaited) != 0) system::futex_wake(&word_, 1);
  }

  // For a thread that is about to fork, so that the guarded data is whole in the child. The program's own fork handlers run after this, and may wait for a
  // thread that waits for this lock. Therefore another thread takes it over after 100 ms (kForkPatience); the child then gets the data as that thread leaves
  // it. The forking thread itself may lock it in the meantime.
  // Requires: the program's signals are held.
  void lock_to_fork() noexcept;
  void unlock_behind_fork() noexcept;  // does nothing if the lock was taken over

 private:
  static constexpr std::uint32_t kAwaited = 0x8000'0000;
  static constexpr std::uint32_t kToFork = 0x4000'0000;

  // The calling thread: its kernel thread id, which has 22 bits at most, and above it the low bits of its process's number.
  static std::uint32_t this_holder() noexcept;
  void wait(std::uint32_t self) noexcept;

  std::atomic<std::uint32_t> word_{0};  // the holder, kAwaited if others may sleep, kToFork if it forks; 0: free
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
