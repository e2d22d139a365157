// Converts times of CLOCK_REALTIME, which CUPTI uses, to CLOCK_MONOTONIC, which everything in a trace uses.
//
// Both clocks are read together about once a second. Between two readings the difference is interpolated, so that a clock that is being slewed causes no step
// in the trace. Before the first reading and after the last one the difference is constant. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent::encode {

// Both clocks at one instant.
struct ClockReading {
  std::int64_t monotonic = 0;     // ns
  std::int64_t realtime = 0;      // ns
  std::uint64_t uncertainty = 0;  // ns that passed during the reading
};

// The most exact of some bracketed readings: about 1 us.
ClockReading read_clocks() noexcept;

class ClockMap {
 public:
  // Requires: readings come in the order in which they were made.
  void add(const ClockReading& reading) noexcept;

  // Requires: a reading was added.
  [[nodiscard]] std::int64_t to_monotonic(std::int64_t realtime) const noexcept;

 private:
  static constexpr std::size_t kReadings = 64;  // one minute: records that come later are rare, and their times are still close

  [[nodiscard]] const ClockReading& at(std::size_t number) const noexcept { return readings_[number % kReadings]; }

  ClockReading readings_[kReadings];
  std::size_t count_ = 0;  // ever added
};

}  // namespace lanescope::agent::encode
