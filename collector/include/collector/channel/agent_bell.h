// How a target wakes its host, and how both wake the agent's thread in the target: futexes in the shared memory.
//
// The host's is touched only while the host sleeps.
// The host looks at the rings, sleeps with a time limit, looks again. A producer whose ring fills up, or that has something urgent, rings.
// A ring at the very moment at which the host falls asleep may be missed: the time limit bounds what that costs.
#pragma once

#include <chrono>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>

#include "collector/channel/layout.h"
#include "collector/channel/system_call.h"

namespace lanescope::channel {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex is the bare word");

// Target: wakes the host if it sleeps. Any thread; one load when the host is awake, one system call when it sleeps.
inline void ring_doorbell(SharedHeader& header) noexcept {
  if (header.host_sleeps.load(std::memory_order_relaxed) == 0 || header.host_sleeps.exchange(0, std::memory_order_acq_rel) == 0) return;
  header.doorbell.fetch_add(1, std::memory_order_release);
  system_call(SYS_futex, word(&header.doorbell), FUTEX_WAKE, 1);
}

// Host: sleeps until the target rings, at most so long. One thread for each memory file. Call it after a look that found nothing to do.
inline void wait_for_doorbell(SharedHeader& header, std::chrono::nanoseconds limit) noexcept {
  const std::uint32_t seen = header.doorbell.load(std::memory_order_acquire);
  header.host_sleeps.store(1, std::memory_order_seq_cst);
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(limit.count() % 1'000'000'000);
  system_call(SYS_futex, word(&header.doorbell), FUTEX_WAIT, seen, word(&timeout));
  header.host_sleeps.store(0, std::memory_order_relaxed);
}

// Host and target: wakes the agent's thread, where there is one. Any thread; one system call.
inline void ring_agent(SharedHeader& header) noexcept {
  header.agent_bell.fetch_add(1, std::memory_order_release);
  system_call(SYS_futex, word(&header.agent_bell), FUTEX_WAKE, 1);
}

// Target: sleeps until the bell is rung, unless it was since it read `seen`; at most so long. Not missed: take `seen` before looking for
// work.
inline void wait_for_agent_bell(SharedHeader& header, std::uint32_t seen, std::chrono::nanoseconds limit) noexcept {
  const timespec timeout{.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000),
                         .tv_nsec = static_cast<long>(limit.count() % 1'000'000'000)};
  system_call(SYS_futex, word(&header.agent_bell), FUTEX_WAIT, seen, word(&timeout));
}

}  // namespace lanescope::channel
