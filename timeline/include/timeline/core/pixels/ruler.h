// Ticks of the time axis: steps of 1, 2 or 5 times a power of ten, in the most readable unit; from half a minute on, steps that divide minutes, hours and days.
#pragma once

#include <string>
#include <vector>

#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

struct Tick {
  Nanoseconds time = 0;
  std::string label;  // "12.5 ms"; if the ruler has a base, "+340 ns" relative to it, then "1.235 s" and "+340 ns" relative to that; "2 h 30 min"
};

struct Ruler {
  std::vector<Tick> ticks;     // labelled
  Nanoseconds step = 0;        // between labelled ticks
  Nanoseconds minor_step = 0;  // between unlabelled ticks
  std::string base;            // "1.234 s": the base of the first labels that begin with "+"; empty if all labels are absolute
};

// Ticks at least `spacing` device pixels apart. O(width / spacing).
[[nodiscard]] Ruler make_ruler(const Viewport& viewport, double spacing);

}  // namespace lanescope::timeline
