// How the agent's own thread is woken in a target: a futex in the shared memory.
//
// Nothing wakes the host: it looks at the rings of its own accord (session/run.cpp). So a thread of the target that writes an event makes no
// system call, which a seccomp filter of the program's could answer by ending it.
#pragma once

#include <chrono>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>

#include "collector/channel/layout.h"
#include "collector/channel/system_call.h"

namespace lanescope::channel {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex is the bare word");

// Host and target: wakes the agent's thread, where there is one. Any thread; one system call.
inline void ring_agent(SharedHeader& header) noexcept {
  header.agent_bell.fetch_add(1, std::memory_order_release);
  system_call(SYS_futex, word(&header.agent_bell), FUTEX_WAKE, 1);
}

// Target: sleeps until the bell is rung, unless it was since it read `seen`; at most so long. Not missed: take `seen` before looking for
// work.
inline void wait_for_agent_bell(SharedHeader& header, std::uint32_t seen, std::chrono::nanoseconds limit) noexcept {
  const timespec timeout{.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000), .tv_nsec = static_cast<long>(limit.count() % 1'000'000'000)};
  system_call(SYS_futex, word(&header.agent_bell), FUTEX_WAIT, seen, word(&timeout));
}

}  // namespace lanescope::channel
