#include "agent/encode/clock_map.h"

#include "agent/core/clock.h"

namespace lanescope::agent::encode {

ClockReading read_clocks() noexcept {
  constexpr int attempts = 20;
  ClockReading best;
  for (int i = 0; i < attempts; ++i) {
    const std::int64_t before = monotonic_now();
    const std::int64_t realtime = read_clock(CLOCK_REALTIME);
    const std::int64_t after = monotonic_now();
    const auto uncertainty = static_cast<std::uint64_t>(after - before);
    if (i == 0 || uncertainty < best.uncertainty) best = {before + (after - before) / 2, realtime, uncertainty};
  }
  return best;
}

void ClockMap::add(const ClockReading& reading) noexcept { readings_[count_++ % kReadings] = reading; }

std::int64_t ClockMap::to_monotonic(std::int64_t realtime) const noexcept {
  const std::size_t oldest = count_ > kReadings ? count_ - kReadings : 0;
  std::size_t number = count_ - 1;
  while (number > oldest && at(number).realtime > realtime) --number;
  const ClockReading& before = at(number);
  const std::int64_t constant = realtime - (before.realtime - before.monotonic);
  if (number + 1 == count_ || realtime < before.realtime) return constant;
  const ClockReading& after = at(number + 1);
  const std::int64_t length = after.realtime - before.realtime;
  if (length <= 0) return constant;
  const std::int64_t change = (after.realtime - after.monotonic) - (before.realtime - before.monotonic);
  const double passed = static_cast<double>(realtime - before.realtime) / static_cast<double>(length);
  const auto part = static_cast<std::int64_t>(static_cast<double>(change) * passed);
  return constant - part;
}

}  // namespace lanescope::agent::encode
