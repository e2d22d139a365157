#include "timeline/core/pixels/ruler.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "model/trace/text/duration.h"

namespace lanescope::timeline {
namespace {

struct Unit {
  Nanoseconds size;
  std::string_view name;
};
constexpr std::array<Unit, 4> kUnits{{{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}};

constexpr Nanoseconds kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

// Steps from half a minute on, which divide minutes, hours and days; longer ones are days.
struct LongStep {
  Nanoseconds step;
  Nanoseconds minor;
};
constexpr std::array<LongStep, 13> kLongSteps{{{30 * kSecond, 10 * kSecond},
                                               {kMinute, 15 * kSecond},
                                               {2 * kMinute, 30 * kSecond},
                                               {5 * kMinute, kMinute},
                                               {10 * kMinute, 2 * kMinute},
                                               {15 * kMinute, 5 * kMinute},
                                               {30 * kMinute, 10 * kMinute},
                                               {kHour, 15 * kMinute},
                                               {2 * kHour, 30 * kMinute},
                                               {3 * kHour, kHour},
                                               {6 * kHour, kHour},
                                               {12 * kHour, 3 * kHour},
                                               {kDay, 6 * kHour}}};

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

LongStep long_step(double wanted) {
  for (const LongStep& each : kLongSteps)
    if (static_cast<double>(each.step) >= wanted) return each;
  const Nanoseconds days = round_step(wanted / static_cast<double>(kDay));
  return {days * kDay, days == 2 ? 12 * kHour : days * kDay / 5};
}

// "2 d 6 h", "1 h 30 min"; "0 min" for nothing.
std::string long_time(Nanoseconds time) {
  const std::string text = format_whole_seconds(time);
  return text.empty() ? "0 min" : text;
}

// Labels in minutes, hours and days. Those that would be long are relative to the preceding hour or day.
void add_long_ticks(TimeRange range, Ruler& ruler) {
  const Nanoseconds larger = ruler.step < kMinute ? kHour : ruler.step < kHour ? kDay : 0;
  const bool counts_on = larger > 0 && range.begin >= larger;
  if (counts_on) ruler.base = long_time(floor_to(range.begin, larger));
  for (Nanoseconds time = floor_to(range.begin + ruler.step - 1, ruler.step); time <= range.end; time += ruler.step) {
    const Nanoseconds size = time < 0 ? -time : time;
    const bool is_relative = counts_on && time % larger != 0;
    const std::string label = long_time(is_relative ? size % larger : size);
    ruler.ticks.push_back({time, is_relative ? '+' + label : time < 0 ? '-' + label : label});
  }
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
  if (ruler.step > 20 * kSecond) {
    const LongStep step = long_step(viewport.step() * spacing);
    ruler.step = step.step;
    ruler.minor_step = step.minor;
    add_long_ticks(viewport.range, ruler);
    return ruler;
  }
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
