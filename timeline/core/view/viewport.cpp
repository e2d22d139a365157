#include "timeline/core/view/viewport.h"

#include <algorithm>
#include <cmath>

namespace lanescope::timeline {

namespace {

__extension__ using Wide = __int128;

Wide floor_division(Wide dividend, Wide divisor) noexcept {
  const Wide quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

Viewport Viewport::on_grid() const noexcept {
  const Wide length = range.length();
  const Wide column = floor_division(2 * (static_cast<Wide>(range.begin) * width + phase) + length, 2 * length);
  const auto begin = static_cast<Nanoseconds>(floor_division(column * length, width));
  return {{begin, begin + range.length()}, width, static_cast<std::int64_t>(column * length - static_cast<Wide>(begin) * width)};
}

Nanoseconds Viewport::time_at(std::int64_t x) const noexcept {
  return range.begin + static_cast<Nanoseconds>(floor_division(static_cast<Wide>(x) * range.length() + phase, width));
}

double Viewport::x_at(Nanoseconds time) const noexcept {
  return (static_cast<double>(time - range.begin) * width - static_cast<double>(phase)) / static_cast<double>(range.length());
}

TimeRange clamped(TimeRange range, TimeRange bounds) noexcept {
  const Nanoseconds widest = std::max(bounds.length(), kShortestRange);
  const Nanoseconds length = std::clamp(range.length(), kShortestRange, widest);
  const Nanoseconds last_begin = std::max(bounds.begin, bounds.end - length);
  const Nanoseconds begin = std::clamp(range.begin, bounds.begin, last_begin);
  return {begin, begin + length};
}

TimeRange zoomed(TimeRange range, double factor, Nanoseconds fixed) noexcept {
  const auto length = static_cast<double>(range.length());
  const double wanted = std::clamp(length / factor, static_cast<double>(kShortestRange), 4e18);
  const double share = static_cast<double>(fixed - range.begin) / length;
  const auto begin = fixed - static_cast<Nanoseconds>(std::llround(share * wanted));
  return {begin, begin + static_cast<Nanoseconds>(std::llround(wanted))};
}

TimeRange panned(TimeRange range, Nanoseconds distance) noexcept { return {range.begin + distance, range.end + distance}; }

TimeRange padded(TimeRange range, double margin) noexcept {
  const auto extra = static_cast<Nanoseconds>(std::llround(static_cast<double>(range.length()) * margin));
  return {range.begin - extra, range.end + extra};
}

}  // namespace lanescope::timeline
