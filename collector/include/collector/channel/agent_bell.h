// Wakes the agent's own thread in a target: a futex in the shared memory.
//
// Nothing wakes the host: it looks at the rings by itself (session/run.cpp). So a thread of the target that writes an event makes no system call. A
// seccomp filter of the program could end it for such a call.
#pragma once

#include <chrono>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>

#include "collector/channel/layout.h"
#include "collector/channel/system_call.h"

namespace lanescope::channel {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex is the bare word");

// Host and target: wakes the agent's thread, if there is one. Any thread; one system call.
inline void ring_agent(SharedHeader& header) noexcept {
  header.agent_bell.fetch_add(1, std::memory_order_release);
  system_call(SYS_futex, word(&header.agent_bell), FUTEX_WAKE, 1);
}

// Target: sleeps until the bell is rung, at most for `limit`. Returns at once if the bell was rung after `seen` was read. Read `seen` before looking
// for work, so that no ring is missed.
inline void wait_for_agent_bell(SharedHeader& header, std::uint32_t seen, std::chrono::nanoseconds limit) noexcept {
  const timespec timeout{.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000), .tv_nsec = static_cast<long>(limit.count() % 1'000'000'000)};
  system_call(SYS_futex, word(&header.agent_bell), FUTEX_WAIT, seen, word(&timeout));
}

}  // namespace lanescope::channel
