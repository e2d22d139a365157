// CLOCK_MONOTONIC computed from the processor's time stamp counter. Reading the counter takes less than half as long as asking the C library.
//
// The host compares the two clocks several times a second and describes their relation by straight lines. Each line begins where the previous one
// ends, so that no time is before one that the same thread took earlier. (The counter is read without waiting for loads in flight: a time may be
// early by the duration of a cache miss, also relative to another thread's.) Between comparisons the line is off by some tens of nanoseconds. If the
// system's clock is steered hard (500 ppm), it may be off by about ten microseconds until the next comparison. This holds if the kernel itself keeps
// time by this counter (it has the same value on all processors, and runs at one speed). Otherwise `rate` stays 0, and the C library is asked.
//
// Lines are written alternately into two places. A reader takes the newest line. If a line was written meanwhile, the reader looks again, because the
// next line may be on its way into the place that it read.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/channel/clock.h"

namespace lanescope::channel {

struct CounterLine {
  std::uint64_t rate = 0;     // ns a tick, times 2^32; 0: there is no line
  std::uint64_t counter = 0;  // where the line begins
  std::int64_t time = 0;      // CLOCK_MONOTONIC at that point, ns
};

// In shared memory: written by the host, read by the target.
struct CounterClock {
  struct Place {
    std::atomic<std::uint64_t> rate;
    std::atomic<std::uint64_t> counter;
    std::atomic<std::int64_t> time;
  };
  std::atomic<std::uint64_t> written;  // lines so far; the newest lies in places[written % 2]
  Place places[2];
  // ns to add to the target's CLOCK_MONOTONIC to get the host's. Not 0 if the target is in another time namespace (time_namespaces(7)).
  std::atomic<std::int64_t> shift;
};

#if defined(__x86_64__)
[[nodiscard]] inline std::uint64_t read_counter() noexcept { return __builtin_ia32_rdtsc(); }
#else
[[nodiscard]] inline std::uint64_t read_counter() noexcept { return 0; }
#endif

[[nodiscard]] inline std::int64_t time_on(const CounterLine& line, std::uint64_t counter) noexcept {
  __extension__ using Wide = __int128;
  const auto ticks = static_cast<std::int64_t>(counter - line.counter);
  return line.time + static_cast<std::int64_t>(static_cast<Wide>(ticks) * static_cast<Wide>(line.rate) >> 32);
}

// There must be only one writer.
inline void write_line(CounterClock& clock, const CounterLine& line) noexcept {
  std::atomic_thread_fence(std::memory_order_release);  // readers of the place already see that it is not the newest
  const std::uint64_t next = clock.written.load(std::memory_order_relaxed) + 1;
  CounterClock::Place& place = clock.places[next % 2];
  place.rate.store(line.rate, std::memory_order_relaxed);
  place.counter.store(line.counter, std::memory_order_relaxed);
  place.time.store(line.time, std::memory_order_relaxed);
  clock.written.store(next, std::memory_order_release);
}

// Converts a CLOCK_MONOTONIC time of the target to the host's. Any thread.
[[nodiscard]] inline std::int64_t event_time(const CounterClock& clock, std::int64_t monotonic) noexcept {
  return monotonic + clock.shift.load(std::memory_order_relaxed);
}

// The host's CLOCK_MONOTONIC now, in ns. Any thread.
[[nodiscard]] inline std::int64_t event_now(const CounterClock& clock) noexcept {
  for (int look = 0; look < 2; ++look) {
    const std::uint64_t written = clock.written.load(std::memory_order_acquire);
    const CounterClock::Place& place = clock.places[written % 2];
    const CounterLine line{place.rate.load(std::memory_order_relaxed), place.counter.load(std::memory_order_relaxed),
                           place.time.load(std::memory_order_relaxed)};
    if (line.rate == 0) break;
    const std::int64_t now = time_on(line, read_counter());
    std::atomic_thread_fence(std::memory_order_acquire);
    if (clock.written.load(std::memory_order_relaxed) == written) return now;
  }
  return event_time(clock, monotonic_now());
}

}  // namespace lanescope::channel
