#include "records/counter_lines.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace lanescope::session {
namespace {

constexpr std::int64_t kAhead = 20'000'000;      // ns from a reading to the begin of its line: longer than the host usually waits for a processor
constexpr std::int64_t kClosest = 50'000'000;    // ns between readings: a line begins before the next one is written
constexpr std::int64_t kShortest = 100'000'000;  // ns between readings for the counter's speed: 20 ns are 0.2 ppm of it
constexpr std::int64_t kLongest = 500'000'000;   // ns; older readings do not show the speed to which the clock is steered now
constexpr double kTakenUp = 0.8;                 // share of the previous line's error that a line takes up
constexpr double kSteepest = 0.1;                // limit of the correction of its slope, so that time does not go backwards

bool has_flags(std::string line) {
  line += ' ';
  return line.find(" constant_tsc ") != std::string::npos && line.find(" nonstop_tsc ") != std::string::npos;
}

}  // namespace

bool CounterLines::are_possible() {
  std::string source;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  if (source != "tsc") return false;
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);)
    if (line.starts_with("flags")) return has_flags(line);
  return false;
}

CounterLines::Reading CounterLines::read() {
  constexpr int kTries = 8;
  Reading best;
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::uint64_t before = channel::read_counter();
    const std::int64_t time = channel::monotonic_now();
    const std::uint64_t width = channel::read_counter() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {before + width / 2, time};
  }
  return best;
}

std::optional<channel::CounterLine> CounterLines::add(const Reading& reading) {
  if (!readings_.empty() && reading.time - readings_.back().time < kClosest) return std::nullopt;
  readings_.push_back(reading);
  while (readings_.size() > 2 && reading.time - readings_[1].time >= kLongest) readings_.pop_front();
  const Reading& first = readings_.front();
  const std::int64_t span = reading.time - first.time;
  if (span < kShortest || reading.counter <= first.counter) return std::nullopt;
  const double speed = static_cast<double>(span) / static_cast<double>(reading.counter - first.counter);  // ns a tick
  constexpr double kOne = 4'294'967'296.0;                                                                // 2^32
  const double since = static_cast<double>(reading.time - readings_[readings_.size() - 2].time);
  channel::CounterLine next;
  next.rate = static_cast<std::uint64_t>(speed * kOne);
  next.counter = reading.counter + static_cast<std::uint64_t>(static_cast<double>(kAhead) / speed);
  next.time = reading.time + kAhead;
  if (line_.rate != 0) {
    const std::int64_t begin = channel::time_on(line_, next.counter);
    const double correction = kTakenUp * static_cast<double>(next.time - begin) / since;
    next.time = begin;
    next.correction = static_cast<std::int64_t>(std::clamp(correction, -kSteepest, kSteepest) * speed * kOne);
    next.corrected = static_cast<std::int64_t>(since / speed);
  }
  line_ = next;
  return line_;
}

}  // namespace lanescope::session
