// Who holds CPython's global lock, and who waits for it.
//
// The interpreter takes and drops it by calls that the agent stands before (osrt/wrappers.cpp): a thread that finds it taken waits by
// pthread_cond_timedwait() for the lock's `cond`, one that has got it says so by pthread_cond_signal() of its `switch_cond`, and one that
// drops it by pthread_cond_signal() of `cond`; if another had asked for it, it then waits by pthread_cond_wait() for `switch_cond`. Both
// stand at known places of the interpreter's state. What is told of it are ranges of an NVTX domain, which never overlap on a thread; those
// of a sub-interpreter's own lock say which.
//
// Threads: any; the functions that are called for a lock do no more than to compare two addresses for each interpreter where it is another.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanescope::agent::python_lock {

// Whether this process holds an interpreter whose lock is known and is to be recorded, as far as can be said in a load.
extern constinit std::atomic<bool> is_watched;

// Whether look_for_interpreter() found none: to be called again once another file has been loaded.
extern constinit std::atomic<bool> is_awaited;

// Looks for an interpreter among the files that are loaded, unless one is known. Not where the caller may hold a lock of the program's.
// Tells the session, as a sentence, where there is one whose lock can't be followed.
void look_for_interpreter() noexcept;

void before_signal(const void* condition) noexcept;
void before_wait(const void* condition) noexcept;
void after_wait(const void* condition) noexcept;

// The calling thread ends the process: what it holds ends with it.
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
