#include "agent/core/faults/held_locks.h"

#include <ctime>

#include <dlfcn.h>
#include <pthread.h>

#include "agent/core/faults/fault_guard.h"
#include "agent/core/loader/call_slots.h"

namespace lanescope::agent {
namespace {

using Kind = HeldLocks::Kind;

enum Function : std::size_t {
  kMutexLock,
  kMutexTryLock,
  kMutexTimedLock,
  kMutexUnlock,
  kReadLock,
  kReadTryLock,
  kReadTimedLock,
  kWriteLock,
  kWriteTryLock,
  kWriteTimedLock,
  kReadWriteUnlock,
  kFunctions,
};

using OfLock = int (*)(void*);
using OfLockUntil = int (*)(void*, const timespec*);

// The functions of the C library; set before any call can reach the functions below.
constinit void* real[kFunctions] = {};

template <Function kFunction, Kind kKind>
int take(void* lock) {
  const int result = reinterpret_cast<OfLock>(real[kFunction])(lock);
  if (result == 0) HeldLocks::note_taken(lock, kKind);
  return result;
}

template <Function kFunction, Kind kKind>
int take_until(void* lock, const timespec* time) {
  const int result = reinterpret_cast<OfLockUntil>(real[kFunction])(lock, time);
  if (result == 0) HeldLocks::note_taken(lock, kKind);
  return result;
}

template <Function kFunction>
int leave(void* lock) {
  HeldLocks::note_left(lock);
  return reinterpret_cast<OfLock>(real[kFunction])(lock);
}

template <typename Parameters>
void* address(Parameters function) noexcept {
  return reinterpret_cast<void*>(function);
}

constexpr const char* kNames[kFunctions] = {"pthread_mutex_lock",       "pthread_mutex_trylock",      "pthread_mutex_timedlock",    "pthread_mutex_unlock",
                                            "pthread_rwlock_rdlock",    "pthread_rwlock_tryrdlock",   "pthread_rwlock_timedrdlock", "pthread_rwlock_wrlock",
                                            "pthread_rwlock_trywrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_unlock"};

}  // namespace

void HeldLocks::note_taken(void* lock, Kind kind) noexcept {
  HeldLocks* const seen = locks_of_guarded_work();
  if (seen != nullptr && seen->count_ < kMost) seen->held_[seen->count_++] = {lock, kind};
}

void HeldLocks::note_left(void* lock) noexcept {
  HeldLocks* const seen = locks_of_guarded_work();
  if (seen == nullptr) return;
  for (std::size_t i = seen->count_; i > 0; --i) {
    if (seen->held_[i - 1].lock != lock) continue;
    for (std::size_t j = i; j < seen->count_; ++j) seen->held_[j - 1] = seen->held_[j];
    --seen->count_;
    return;
  }
}

void HeldLocks::release() noexcept {
  while (count_ > 0) {
    const Held last = held_[--count_];
    reinterpret_cast<OfLock>(real[last.kind == Kind::kMutex ? kMutexUnlock : kReadWriteUnlock])(last.lock);
  }
}

void watch_locks_of(const void* code) noexcept {
  void* const own[kFunctions] = {address(&take<kMutexLock, Kind::kMutex>),
                                 address(&take<kMutexTryLock, Kind::kMutex>),
                                 address(&take_until<kMutexTimedLock, Kind::kMutex>),
                                 address(&leave<kMutexUnlock>),
                                 address(&take<kReadLock, Kind::kReadWrite>),
                                 address(&take<kReadTryLock, Kind::kReadWrite>),
                                 address(&take_until<kReadTimedLock, Kind::kReadWrite>),
                                 address(&take<kWriteLock, Kind::kReadWrite>),
                                 address(&take<kWriteTryLock, Kind::kReadWrite>),
                                 address(&take_until<kWriteTimedLock, Kind::kReadWrite>),
                                 address(&leave<kReadWriteUnlock>)};
  Redirection redirections[kFunctions] = {};
  for (std::size_t i = 0; i < kFunctions; ++i) {
    if (real[i] == nullptr) real[i] = dlsym(RTLD_NEXT, kNames[i]);
    if (real[i] == nullptr) return;
    redirections[i] = {kNames[i], dlsym(RTLD_DEFAULT, kNames[i]), own[i], true};  // the functions that such files have found
  }
  redirect_calls_of(code, redirections);
}

}  // namespace lanescope::agent
