#include "agent/process/this_thread.h"

#include <atomic>
#include <ctime>

#include <pthread.h>

#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"

// In C libraries older than 2.34 it is in a separate library, which not every program has loaded.
#pragma weak pthread_getcpuclockid

namespace lanescope::agent {
namespace {

constinit std::atomic<std::uint32_t> checked_in{0};  // process_generation
constinit std::atomic<bool> is_right{false};         // in that generation

}  // namespace

// The C library computes a thread's CPU clock from the thread's number, as the kernel does: the complement of the number, shifted left by three bits.
std::uint32_t this_thread_id_unasked() noexcept {
  clockid_t clock = 0;
  if (pthread_getcpuclockid == nullptr || pthread_getcpuclockid(pthread_self(), &clock) != 0) return 0;
  return static_cast<std::uint32_t>(~(clock >> 3));
}

std::uint32_t this_thread_id() noexcept {
  const std::uint32_t generation = process_generation();
  if (checked_in.load(std::memory_order_acquire) == generation)
    return is_right.load(std::memory_order_relaxed) ? this_thread_id_unasked() : system::thread_id();
  if (!may_ask_for_numbers()) return this_thread_id_unasked();
  const std::uint32_t asked = system::thread_id();
  is_right.store(this_thread_id_unasked() == asked, std::memory_order_relaxed);
  checked_in.store(generation, std::memory_order_release);
  return asked;
}

std::uint32_t this_thread_id_after_fork(std::uint32_t generation) noexcept {
  if (!is_right.load(std::memory_order_relaxed) && may_ask_for_numbers()) return system::thread_id();
  checked_in.store(generation, std::memory_order_relaxed);
  return this_thread_id_unasked();
}

}  // namespace lanescope::agent
