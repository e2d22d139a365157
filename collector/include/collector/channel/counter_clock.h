// CLOCK_MONOTONIC computed from the processor's time stamp counter. Reading the counter takes less than half as long as asking the C library.
//
// The host compares the two clocks several times a second and describes their relation by straight lines. A line is written before it begins and begins
// where the previous line is at that moment, so that no time is before one that the same thread took earlier. (The counter is read without waiting for loads in
// flight: a time may be early by the duration of a cache miss, also relative to another thread's.) A line also takes up the error of the previous one, within
// a time that it states, so that no error grows when the host is late. Lines are off by some tens of nanoseconds, and by less than a microsecond for each
// second in which the host could not compare. If the system's clock is steered hard (500 ppm), they are off by 50 µs until the next comparison (docs/adr/0010).
// This holds if the kernel itself keeps time by this counter (it has the same value on all processors, and runs at one speed). Otherwise `rate` stays 0, and
// the C library is asked.
//
// Lines are written in turn into four places. A reader takes the newest line, or the one before if the newest has not begun. If a line was written meanwhile,
// the reader looks again. A place is written again only three lines later, so a reader that saw no new line has not seen a part of one.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "collector/channel/clock.h"

namespace lanescope::channel {

struct CounterLine {
  std::uint64_t rate = 0;       // ns a tick, times 2^32; 0: there is no line
  std::uint64_t counter = 0;    // where the line begins
  std::int64_t time = 0;        // CLOCK_MONOTONIC at that point, ns
  std::int64_t correction = 0;  // to be added to `rate` in the first `corrected` ticks
  std::int64_t corrected = 0;
};

// In shared memory: written by the host, read by the target.
struct CounterClock {
  struct Place {
    std::atomic<std::uint64_t> rate;
    std::atomic<std::uint64_t> counter;
    std::atomic<std::int64_t> time;
    std::atomic<std::int64_t> correction;
    std::atomic<std::int64_t> corrected;
  };
  static constexpr std::uint64_t kPlaces = 4;
  std::atomic<std::uint64_t> written;  // lines so far; the newest lies in places[written % kPlaces]
  Place places[kPlaces];
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
  const std::int64_t corrected = ticks < line.corrected ? ticks : line.corrected;
  return line.time +
         static_cast<std::int64_t>((static_cast<Wide>(ticks) * static_cast<Wide>(line.rate) + static_cast<Wide>(corrected) * line.correction) >> 32);
}

// There must be only one writer.
inline void write_line(CounterClock& clock, const CounterLine& line) noexcept {
  std::atomic_thread_fence(std::memory_order_release);  // readers of the place already see that it is old
  const std::uint64_t next = clock.written.load(std::memory_order_relaxed) + 1;
  CounterClock::Place& place = clock.places[next % CounterClock::kPlaces];
  place.rate.store(line.rate, std::memory_order_relaxed);
  place.counter.store(line.counter, std::memory_order_relaxed);
  place.time.store(line.time, std::memory_order_relaxed);
  place.correction.store(line.correction, std::memory_order_relaxed);
  place.corrected.store(line.corrected, std::memory_order_relaxed);
  clock.written.store(next, std::memory_order_release);
}

[[nodiscard]] inline CounterLine line_at(const CounterClock::Place& place) noexcept {
  return {place.rate.load(std::memory_order_relaxed), place.counter.load(std::memory_order_relaxed), place.time.load(std::memory_order_relaxed),
          place.correction.load(std::memory_order_relaxed), place.corrected.load(std::memory_order_relaxed)};
}

// Converts a CLOCK_MONOTONIC time of the target to the host's. Any thread.
[[nodiscard]] inline std::int64_t event_time(const CounterClock& clock, std::int64_t monotonic) noexcept {
  return monotonic + clock.shift.load(std::memory_order_relaxed);
}

// The time at a value of the counter that the caller has just read; nothing without a line for it, or if lines come faster than they can be read.
[[nodiscard]] inline std::optional<std::int64_t> time_at(const CounterClock& clock, std::uint64_t counter) noexcept {
  for (int look = 0; look < 2; ++look) {
    const std::uint64_t written = clock.written.load(std::memory_order_acquire);
    CounterLine line = line_at(clock.places[written % CounterClock::kPlaces]);
    if (counter < line.counter) line = line_at(clock.places[(written - 1) % CounterClock::kPlaces]);
    if (line.rate == 0) return std::nullopt;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (clock.written.load(std::memory_order_relaxed) == written) return time_on(line, counter);
  }
  return std::nullopt;
}

// The host's CLOCK_MONOTONIC now, in ns. Any thread.
[[nodiscard]] inline std::int64_t event_now(const CounterClock& clock) noexcept {
  const std::optional<std::int64_t> time = time_at(clock, read_counter());
  return time ? *time : event_time(clock, monotonic_now());
}

}  // namespace lanescope::channel
