#include "timeline/core/pixels/ruler.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace lanescope::timeline {
namespace {

struct Unit {
  Nanoseconds size;
  std::string_view name;
};
constexpr std::array<Unit, 4> kUnits{{{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}};

Nanoseconds floor_to(Nanoseconds value, Nanoseconds step) {
  const Nanoseconds rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

// The smallest step of 1, 2 or 5 times a power of ten that is at least `wanted`.
Nanoseconds round_step(double wanted) {
  for (Nanoseconds power = 1;; power *= 10)
    for (const Nanoseconds digit : {1, 2, 5})
      if (static_cast<double>(digit * power) >= wanted) return digit * power;
}

int decimals(Nanoseconds step, Nanoseconds unit) {
  int count = 0;
  for (Nanoseconds size = unit; size > 1 && step % size != 0; size /= 10) ++count;
  return count;
}

std::string number(Nanoseconds value, const Unit& unit, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s", digits, static_cast<double>(value) / static_cast<double>(unit.size), unit.name.data());
  return text;
}

}  // namespace

Ruler make_ruler(const Viewport& viewport, double spacing) {
  Ruler ruler;
  ruler.step = round_step(viewport.step() * spacing);
  Nanoseconds digit = ruler.step;
  while (digit % 10 == 0) digit /= 10;
  ruler.minor_step = ruler.step < 10 ? 1 : ruler.step / (digit == 2 ? 4 : 5);
  const Nanoseconds length = viewport.range.length();

  // If absolute labels would be long, labels are relative to the preceding round time of a larger unit, which is labelled itself.
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && kUnits[unit + 1].size <= length) ++unit;
  const int digits = decimals(ruler.step, kUnits[unit].size);
  const bool counts_on = unit + 1 < kUnits.size() && viewport.range.begin >= kUnits[unit + 1].size;
  const Nanoseconds larger = counts_on ? kUnits[unit + 1].size : 1;
  const auto round_time = [larger](Nanoseconds time) {
    std::size_t own_unit = kUnits.size() - 1;
    while (kUnits[own_unit].size > time) --own_unit;
    return number(time, kUnits[own_unit], decimals(larger, kUnits[own_unit].size));
  };
  if (counts_on) ruler.base = round_time(floor_to(viewport.range.begin, larger));
  for (Nanoseconds time = floor_to(viewport.range.begin + ruler.step - 1, ruler.step); time <= viewport.range.end; time += ruler.step) {
    const bool is_round = counts_on && time % larger == 0;
    ruler.ticks.push_back({time, is_round    ? round_time(time)
                                 : counts_on ? '+' + number(time - floor_to(time, larger), kUnits[unit], digits)
                                             : number(time, kUnits[unit], digits)});
  }
  return ruler;
}

}  // namespace lanescope::timeline
