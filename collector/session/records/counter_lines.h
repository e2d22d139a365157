// Lays the lines of channel/counter_clock.h.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "collector/channel/counter_clock.h"

namespace lanescope::session {

class CounterLines {
 public:
  // Both clocks at one moment.
  struct Reading {
    std::uint64_t counter = 0;
    std::int64_t time = 0;  // CLOCK_MONOTONIC, ns
  };

  // Whether the kernel keeps time by the counter.
  [[nodiscard]] static bool are_possible();
  // Takes about a microsecond; both are read within some tens of nanoseconds.
  [[nodiscard]] static Reading read();

  // Readings come in order; those closer than 5 ms to the one before are left out. Returns the line from here on; none before the readings
  // lie far enough apart to know the counter's speed.
  std::optional<channel::CounterLine> add(const Reading& reading);
  [[nodiscard]] const channel::CounterLine& line() const noexcept { return line_; }

 private:
  std::deque<Reading> readings_;  // of the last seconds
  channel::CounterLine line_;
};

}  // namespace lanescope::session
