// Who holds CPython's global lock, and who waits for it.
//
// The interpreter takes and releases the lock by calls that the agent stands before (osrt/wrappers.cpp). A thread that finds it taken waits by
// pthread_cond_timedwait() for the lock's `cond`. A thread that has taken it calls pthread_cond_signal() on its `switch_cond`. A thread that releases it calls
// pthread_cond_signal() on `cond`; if another thread had asked for the lock, it then waits by pthread_cond_wait() for `switch_cond`. Both variables are at
// known places of the interpreter's state. The lock is recorded as ranges of an NVTX domain, which never overlap on a thread; ranges of a sub-interpreter's own
// lock name it.
//
// Threads: any. For other condition variables, the functions only compare two addresses for each interpreter.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanescope::agent::python_lock {

// True if this process has an interpreter whose lock is known and recorded, as far as one load can tell.
extern constinit std::atomic<bool> is_watched;

// True if look_for_interpreter() found none: call it again when another file has been loaded.
extern constinit std::atomic<bool> is_awaited;

// Looks for an interpreter among the loaded files, unless one is known. Do not call it if the caller may hold a lock of the program's. Tells the session in one
// sentence if there is an interpreter whose lock can't be followed.
void look_for_interpreter() noexcept;

void before_signal(const void* condition) noexcept;
void before_wait(const void* condition) noexcept;
void after_wait(const void* condition) noexcept;

// The calling thread ends the process: its open range ends with it.
void end_of_process() noexcept;

inline void will_signal(const void* condition) noexcept {
  if (is_watched.load(std::memory_order_relaxed)) before_signal(condition);
}
inline void will_wait(const void* condition) noexcept {
  if (is_watched.load(std::memory_order_relaxed)) before_wait(condition);
}

inline void has_waited(const void* condition) noexcept {
  if (is_watched.load(std::memory_order_relaxed)) after_wait(condition);
}

}  // namespace lanescope::agent::python_lock
