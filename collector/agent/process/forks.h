// Which process this is: the one that loaded the agent, or a forked child of it, which also contains the agent.
//
// A child is a process of its own. If fork() made it, its first thread learns this before fork() returns. If no fork handlers run (_Fork, clone, the system
// call), the child learns it at its first look, because the kernel clears the page that holds the process number (since Linux 4.14). The child of a vfork,
// which shares our memory, does not count as a process of its own.
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

// Increases in a child, and when another session takes this process over; never 0. One load, except for the first call in a process.
std::uint32_t identify_process() noexcept;
inline std::uint32_t process_generation() noexcept {
  const std::uint32_t known = process_page.generation.load(std::memory_order_acquire);
  return known != 0 ? known : identify_process();
}
// The same, but 0 in a child that has not looked yet.
inline std::uint32_t last_generation() noexcept { return process_page.generation.load(std::memory_order_relaxed); }

// How many ancestors of this process, as far as the agent has been in them, were forked: a child has another number than its parent, whose memory it copies.
[[nodiscard]] std::uint32_t process_number() noexcept;

// True if no handler of fork() ran for this process (_Fork, clone, the system call): locks of the C library and of the program may be held here by threads of
// its parent, so nothing may be done that takes one, as a new thread or memory of the program's would.
[[nodiscard]] bool was_forked_unnoticed() noexcept;

// Starts a generation for another session. One thread at a time.
void begin_generation() noexcept;

// False in the child of a vfork, which must not change our memory. One system call.
bool is_own_process() noexcept;

// True if this process still has this thread. Also right in the child of a vfork. One system call.
bool is_thread_of_process(std::uint32_t thread) noexcept;

// From here on, the child of a fork() learns at once what it is. Takes memory, so call it while the agent is loaded. May be called any number of times.
void watch_forks() noexcept;

// `prepare` is called on a thread that is about to fork, before any lock is held for the fork, with the program's signals held. It may wait for other threads
// for a limited time, and takes no memory of the program's. At most twelve, called in the order in which they were added. Not called if the program forbids
// looking at loaded files (call_filters.h).
void before_forking(void (*prepare)()) noexcept;

// Holds the lock while the process forks, so that the data it guards is whole in the child. At most twelve locks, which are taken in the order of these calls.
void hold_across_forks(Lock& lock) noexcept;

// `forget` is called in every child, before anything else of the agent runs there. It may touch nothing but memory and descriptors. At most twelve, called in
// the order in which they were added.
void on_fork_child(void (*forget)()) noexcept;

}  // namespace lanescope::agent
