// Which process this is: the one that loaded the agent, or a child of it that was forked, in whatever way, and has the agent with it.
//
// A child is a process of its own. Where fork() made it, it learns so on its first thread before fork() returns; where nothing runs
// handlers
// (_Fork, clone, the system call), at its first look: the kernel empties the page on which the number of the process stands (since Linux
// 4.14). The child of a vfork, which shares our memory, is not one.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/process/lock.h"

namespace lanescope::agent {

#if defined(__x86_64__)
inline constexpr std::size_t kLargestPageBytes = 4096;
#else
inline constexpr std::size_t kLargestPageBytes = 65536;
#endif
// All zero in a child that has not looked yet.
struct alignas(kLargestPageBytes) ProcessPage {
  std::atomic<std::uint32_t> generation;
  std::atomic<std::int32_t> process;
  std::atomic<bool> is_being_identified;
};
extern constinit ProcessPage process_page;

// Increases in a child, and when another session takes this process over; never 0. One load, but for the first call in a process.
std::uint32_t identify_process() noexcept;
inline std::uint32_t process_generation() noexcept {
  const std::uint32_t known = process_page.generation.load(std::memory_order_acquire);
  return known != 0 ? known : identify_process();
}
// The same, but 0 in a child that has not looked yet.
inline std::uint32_t last_generation() noexcept { return process_page.generation.load(std::memory_order_relaxed); }

// For another session. One thread at a time.
void begin_generation() noexcept;

// False in the child of a vfork, which is not to change what it finds. One system call.
bool is_own_process() noexcept;

// Whether this process has such a thread still. Right in the child of a vfork, too. One system call.
bool is_thread_of_process(std::uint32_t thread) noexcept;

// From here on the child of a fork() learns at once what it is. Takes memory, so call it while the agent is loaded. Any number of times.
void watch_forks() noexcept;

// Called on a thread that is about to fork, before any lock is held for that, with the program's signals held. It may wait for other threads,
// but not without end, and takes no memory of the program's. Up to a dozen, in the order of these calls. Not where the program forbids looking at
// loaded files (call_filters.h).
void before_forking(void (*prepare)()) noexcept;

// Holds the lock while the process forks, so that what it guards is whole in the child, where it is free again. Up to a dozen locks, which
// are taken in the order of these calls.
void hold_across_forks(Lock& lock) noexcept;

// Called in every child, before anything else of the agent there; nothing but memory and descriptors may be touched. Up to a dozen, in
// the order of these calls.
void on_fork_child(void (*forget)()) noexcept;

}  // namespace lanescope::agent
