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

  // Labels count from a round time of a larger unit where absolute ones would be long.
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && kUnits[unit + 1].size <= length) ++unit;
  Nanoseconds base = 0;
  if (unit + 1 < kUnits.size() && viewport.range.begin >= kUnits[unit + 1].size) {
    base = floor_to(viewport.range.begin, kUnits[unit + 1].size);
    std::size_t base_unit = kUnits.size() - 1;
    while (kUnits[base_unit].size > base) --base_unit;
    ruler.base = number(base, kUnits[base_unit], decimals(kUnits[unit + 1].size, kUnits[base_unit].size));
  }
  const int digits = decimals(ruler.step, kUnits[unit].size);
  for (Nanoseconds time = floor_to(viewport.range.begin + ruler.step - 1, ruler.step); time <= viewport.range.end; time += ruler.step)
    ruler.ticks.push_back({time, (base != 0 ? "+" : "") + number(time - base, kUnits[unit], digits)});
  return ruler;
}

}  // namespace lanescope::timeline
