#include "agent/osrt/later_functions.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/osrt/trace.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

namespace lanescope::agent::osrt {
namespace {

using Time = const timespec*;

constinit Function mutex_timedlock{"pthread_mutex_timedlock", nullptr};
constinit Function cond_timedwait{"pthread_cond_timedwait", "GLIBC_2.3.2"};
constinit Function plain_control_file{"fcntl", nullptr};
constinit Function semaphore_timedwait{"sem_timedwait", nullptr};

template <typename... Parameters>
int next(Function& function, Parameters... parameters) {
  return reinterpret_cast<int (*)(Parameters...)>(function.address())(parameters...);
}

bool is_valid(clockid_t clock, const timespec& time) noexcept {
  return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && time.tv_nsec >= 0 && time.tv_nsec < kSecond;
}

// Converts to the clock that the older functions use.
timespec by_realtime(clockid_t clock, const timespec& until) noexcept {
  if (clock == CLOCK_REALTIME) return until;
  const std::int64_t left = until.tv_sec * kSecond + until.tv_nsec - read_clock(clock);
  const std::int64_t time = read_clock(CLOCK_REALTIME) + (left > 0 ? left : 0);
  return {.tv_sec = time / kSecond, .tv_nsec = time % kSecond};
}

int pwait2(int descriptor, epoll_event* events, int count, Time limit, const sigset_t* signals) noexcept {
  const long result = system::system_call(SYS_epoll_pwait2, descriptor, system::word(events), count, system::word(limit), system::word(signals), 8);
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

int mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, Time until) {
  if (!is_valid(clock, *until)) return EINVAL;
  const timespec time = by_realtime(clock, *until);
  return next(mutex_timedlock, mutex, &time);
}

int cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, Time until) {
  if (!is_valid(clock, *until)) return EINVAL;
  const timespec time = by_realtime(clock, *until);
  return next(cond_timedwait, condition, mutex, &time);
}

int semaphore_clockwait(sem_t* semaphore, clockid_t clock, Time until) {
  if (!is_valid(clock, *until)) {
    errno = EINVAL;
    return -1;
  }
  const timespec time = by_realtime(clock, *until);
  return next(semaphore_timedwait, semaphore, &time);
}

int control_file(int descriptor, int command, long argument) { return next(plain_control_file, descriptor, command, argument); }

template <typename Function>
void* address(Function* function) noexcept {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* stand_in_for(const char* name) noexcept {
  if (std::strcmp(name, "epoll_pwait2") == 0) return address(pwait2);
  if (std::strcmp(name, "pthread_mutex_clocklock") == 0) return address(mutex_clocklock);
  if (std::strcmp(name, "pthread_cond_clockwait") == 0) return address(cond_clockwait);
  if (std::strcmp(name, "fcntl64") == 0) return address(control_file);
  if (std::strcmp(name, "sem_clockwait") == 0) return address(semaphore_clockwait);
  return nullptr;
}

}  // namespace lanescope::agent::osrt
