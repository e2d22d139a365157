// Counters as pixels and as text: the content of a column of a counter's row, its scale, and its description.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/view/viewport.h"
#include "timeline/core/words/describe.h"

namespace lanescope::timeline {

// From the bottom of a row to its top, in the unit of the counter.
struct CounterScale {
  double bottom = 0;
  double top = 1;
  // 0 at the bottom, 1 at the top; values outside are clamped.
  [[nodiscard]] double height_of(double value) const noexcept;
};
// From 0 to the maximum that is possible, if it is known; else to a round number above all measured values. O(segments).
[[nodiscard]] CounterScale counter_scale(const Trace& trace, CounterId id);

// One column per device pixel; empty if nothing is known. O(width · log n), and values on demand are decoded.
[[nodiscard]] std::vector<CounterSummary> counter_columns(const CounterSeries& series, const Viewport& viewport);
// The same for some of the columns, from `first` on.
void fill_counter_columns(const CounterSeries& series, const Viewport& viewport, std::size_t first, std::span<CounterSummary> into);
// The same without decoding anything: what a thread paints that must not wait.
struct CounterColumns {
  std::vector<CounterSummary> columns;
  CounterSeries::Detail detail = CounterSeries::Detail::kExact;
};
[[nodiscard]] CounterColumns counter_outline(const CounterSeries& series, const Viewport& viewport);

// The text at its top: "100 %", "4 TB/s".
[[nodiscard]] std::string scale_text(const Trace& trace, CounterId id, const CounterScale& scale);
// One colour for each group of counters, so that related rows are easy to find.
[[nodiscard]] Rgb counter_color(const Trace& trace, CounterId id, ColorScheme scheme) noexcept;
constexpr double kCounterFill = 0.20;  // opacity of that colour from the bottom to the mean
constexpr double kCounterBand = 0.45;  // from the minimum to the maximum

// "43.2 %", "1.23 TB/s", "1.98 GHz", "612 W", "120.4 GiB".
[[nodiscard]] std::string format_quantity(double value, std::string_view unit);

// The facts about a counter in the time of one pixel: the value if it is a single one; else minimum, mean and maximum. The first property is the name.
[[nodiscard]] std::vector<Property> describe_counter(const Trace& trace, CounterId id, TimeRange pixel);
// "43.2 %, 0.0 % to 98.7 %": mean, minimum and maximum in the window; empty if nothing is known.
[[nodiscard]] std::string counter_text(const Trace& trace, CounterId id, TimeRange window);
// Only its mean in the window.
[[nodiscard]] std::string counter_mean_text(const Trace& trace, CounterId id, TimeRange window);

}  // namespace lanescope::timeline
