// Ticks of the time axis: steps of 1, 2 or 5 times a power of ten, written in the unit that reads best.
#pragma once

#include <string>
#include <vector>

#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

struct Tick {
  Nanoseconds time = 0;
  std::string label;  // "12.5 ms"; where the ruler has a base, "+340 ns" behind it, "1.235 s" and again "+340 ns" behind that
};

struct Ruler {
  std::vector<Tick> ticks;     // labelled
  Nanoseconds step = 0;        // between labelled ticks
  Nanoseconds minor_step = 0;  // between unlabelled ones
  std::string base;            // "1.234 s": what the first labels that begin with "+" add to; empty where all are absolute
};

// Ticks at least `spacing` device pixels apart. O(width / spacing).
[[nodiscard]] Ruler make_ruler(const Viewport& viewport, double spacing);

}  // namespace lanescope::timeline
