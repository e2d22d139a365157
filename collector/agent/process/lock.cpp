#include "agent/process/lock.h"

#include <cerrno>

#include "agent/core/forks_under_way.h"
#include "agent/process/forks.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent {
namespace {

constexpr int kLooks = 100;                     // before sleeping: most locks are held for less than a microsecond
constexpr std::int64_t kPatience = 50'000'000;  // ns between checks that the holder is still alive

constexpr std::uint32_t kHolderThreadBits = 22;  // PID_MAX_LIMIT
constexpr std::uint32_t kHolderThread = (1u << kHolderThreadBits) - 1;
constexpr std::uint32_t kHolderProcess = 0xffu << kHolderThreadBits;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::uint32_t Lock::this_holder() noexcept {
  const std::uint32_t thread = this_thread_id();
  return (process_number() << kHolderThreadBits & kHolderProcess) | thread;
}

void Lock::wait(std::uint32_t self) noexcept {
  for (int look = 0; look < kLooks; ++look) {
    std::uint32_t free = 0;
    if (word_.load(std::memory_order_relaxed) == 0 && word_.compare_exchange_weak(free, self, std::memory_order_acquire)) return;
    pause();
  }
  // From here on, the holder wakes the next thread when it unlocks, because others may also sleep.
  for (std::uint32_t seen = word_.load(std::memory_order_relaxed);;) {
    const std::uint32_t holder = seen & ~kAwaited;
    const bool is_to_fork = (holder & kToFork) != 0;
    if (holder == (self | kToFork)) return;  // this thread forks and the program's preparations came here: the fork keeps the lock
    // Held by this thread: signals are held, so a fault ended the work that took it. Held in another process: this one is its child, and has no such thread.
    if (holder == 0 || holder == self || (holder & kHolderProcess) != (self & kHolderProcess)) {
      if (word_.compare_exchange_weak(seen, self | kAwaited, std::memory_order_acquire)) return;
      continue;
    }
    if (seen == holder && !word_.compare_exchange_weak(seen, holder | kAwaited, std::memory_order_relaxed)) continue;
    const long result = system::futex_wait(&word_, holder | kAwaited, is_to_fork ? kForkPatience : kPatience);
    seen = word_.load(std::memory_order_relaxed);
    if (result != -ETIMEDOUT || seen != (holder | kAwaited) || (!is_to_fork && is_thread_of_process(holder & kHolderThread))) continue;
    if (word_.compare_exchange_strong(seen, self | kAwaited, std::memory_order_acquire)) return;
  }
}

void Lock::lock_to_fork() noexcept {
  lock();
  word_.fetch_or(kToFork, std::memory_order_relaxed);
}

void Lock::unlock_behind_fork() noexcept {
  const std::uint32_t self = this_holder() | kToFork;
  for (std::uint32_t seen = word_.load(std::memory_order_relaxed); (seen & ~kAwaited) == self;)
    if (word_.compare_exchange_weak(seen, 0, std::memory_order_release)) {
      if ((seen & kAwaited) != 0) system::futex_wake(&word_, 1);
      return;
    }
}

}  // namespace lanescope::agent
