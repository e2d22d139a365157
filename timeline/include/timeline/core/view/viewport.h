// The window through which a trace is seen: a time range on a number of device pixels. Pure functions, O(1).
#pragma once

#include <cstdint>

#include "model/trace/types.h"

namespace lanescope::timeline {

// Shorter ranges cannot be shown: times are recorded with a resolution of 1 ns and an accuracy of tens of ns.
inline constexpr Nanoseconds kShortestRange = 100;

// Requires: range.length() > 0, width > 0.
struct Viewport {
  TimeRange range;
  std::int32_t width = 1;  // device pixels
  std::int64_t phase = 0;  // offset of the first column's start from range.begin, in 1/width ns: [0, width)

  // The viewport moved by at most half a pixel so that a column starts at time 0. Then all viewports with the same length and width divide time in the same
  // way, wherever they are: a column keeps its content when the view is panned.
  [[nodiscard]] Viewport on_grid() const noexcept;

  // Left edge of pixel column x. Monotonic; time_at(0) is range.begin and time_at(width) range.end, so that columns share the range without gap or overlap. Any
  // x, also outside of the window.
  [[nodiscard]] Nanoseconds time_at(std::int64_t x) const noexcept;
  // The position of a time, in pixels from the left edge, with fraction.
  [[nodiscard]] double x_at(Nanoseconds time) const noexcept;
  // The duration of a pixel column, in ns.
  [[nodiscard]] double step() const noexcept { return static_cast<double>(range.length()) / width; }
  bool operator==(const Viewport&) const = default;
};

// The range moved and, if necessary, shortened to lie within bounds; never shorter than kShortestRange.
[[nodiscard]] TimeRange clamped(TimeRange range, TimeRange bounds) noexcept;
// The range shortened by `factor` (lengthened if below 1) so that the time `fixed` keeps its place on the screen.
[[nodiscard]] TimeRange zoomed(TimeRange range, double factor, Nanoseconds fixed) noexcept;
[[nodiscard]] TimeRange panned(TimeRange range, Nanoseconds distance) noexcept;
// The range with `margin` times its length added on both sides.
[[nodiscard]] TimeRange padded(TimeRange range, double margin) noexcept;

}  // namespace lanescope::timeline
