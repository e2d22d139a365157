// A mutual exclusion lock that needs no construction and can be forgotten in a forked child.
#pragma once

#include <new>

#include <pthread.h>

namespace lanescope::agent {

class Lock {
 public:
  constexpr Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

  // In a forked child alone: whoever held it does not exist there.
  void forget_holder() noexcept { ::new (&mutex_) pthread_mutex_t(PTHREAD_MUTEX_INITIALIZER); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class [[nodiscard]] ScopedLock {
 public:
  explicit ScopedLock(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~ScopedLock() { lock_.unlock(); }
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;

 private:
  Lock& lock_;
};

}  // namespace lanescope::agent
