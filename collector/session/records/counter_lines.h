// Computes the lines of channel/counter_clock.h.
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

  // True if the kernel keeps time by the counter.
  [[nodiscard]] static bool are_possible();
  // Takes about a microsecond; both clocks are read within some tens of nanoseconds.
  [[nodiscard]] static Reading read();

  // Readings must come in order; a reading closer than 50 ms to the one before is ignored. Returns the next line, which begins 20 ms after the reading and
  // should be written before; nothing until the readings are far enough apart to know the counter's speed.
  std::optional<channel::CounterLine> add(const Reading& reading);
  [[nodiscard]] const channel::CounterLine& line() const noexcept { return line_; }

 private:
  std::deque<Reading> readings_;  // of the last seconds
  channel::CounterLine line_;
};

}  // namespace lanescope::session
