// CLOCK_MONOTONIC by the processor's time stamp counter, which takes less than half as long to read as to ask the C library.
//
// The host compares the two clocks several times a second, and lays straight lines through what it sees: where one line ends the next
// begins, so that no time is before one that the same thread took earlier. (The counter is read without waiting for loads on their way: a
// time may be early by a cache miss, also against another thread's.) Between looks the line is off by some tens of nanoseconds; were the
// system's clock to be steered hard (500 ppm), by some ten microseconds until the next look. That holds where the kernel itself keeps time
// by this counter (it has the same value on all processors, and runs at one speed); elsewhere `rate` stays 0, and the C library is asked.
//
// Lines are written in turn into two places. A reader takes the newest; where one was written meanwhile it looks again, since the next is
// on its way into the place that it read.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/channel/clock.h"

namespace lanescope::channel {

struct CounterLine {
  std::uint64_t rate = 0;     // ns a tick, times 2^32; 0: there is none
  std::uint64_t counter = 0;  // where it begins
  std::int64_t time = 0;      // CLOCK_MONOTONIC there, ns
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
  // ns, to be added to CLOCK_MONOTONIC as the target sees it for what the host sees. Not 0 in another time namespace (time_namespaces(7)).
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

// One writer.
inline void write_line(CounterClock& clock, const CounterLine& line) noexcept {
  std::atomic_thread_fence(std::memory_order_release);  // readers of the place know by now that it is not the newest
  const std::uint64_t next = clock.written.load(std::memory_order_relaxed) + 1;
  CounterClock::Place& place = clock.places[next % 2];
  place.rate.store(line.rate, std::memory_order_relaxed);
  place.counter.store(line.counter, std::memory_order_relaxed);
  place.time.store(line.time, std::memory_order_relaxed);
  clock.written.store(next, std::memory_order_release);
}

// A time of the target's CLOCK_MONOTONIC on the host's. Any thread.
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
