// Counters in pixels and in words: what a column of a counter's row shows, on which scale, and what is said of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/view/viewport.h"
#include "timeline/core/words/describe.h"

namespace lanescope::timeline {

// From the bottom of a row to its top, in the counter's unit.
struct CounterScale {
  double bottom = 0;
  double top = 1;
  // 0 at the bottom, 1 at the top, and not beyond.
  [[nodiscard]] double height_of(double value) const noexcept;
};
// From 0 to what is possible at most, where that is known; else to a round number above all that was measured. O(segments).
[[nodiscard]] CounterScale counter_scale(const Trace& trace, CounterId id);

// One column a device pixel; empty ones where nothing is known. O(width · log n).
[[nodiscard]] std::vector<CounterSummary> counter_columns(const CounterSeries& series, const Viewport& viewport);

// What its top is called: "100 %", "4 TB/s".
[[nodiscard]] std::string scale_text(const Trace& trace, CounterId id, const CounterScale& scale);
// One for each group of counters: the eye finds the rows that belong together.
[[nodiscard]] Rgb counter_color(const Trace& trace, CounterId id, ColorScheme scheme) noexcept;
constexpr double kCounterFill = 0.20;  // of that colour, from the bottom to the mean
constexpr double kCounterBand = 0.45;  // from the least to the most

// "43.2 %", "1.23 TB/s", "1.98 GHz", "612 W", "120.4 GiB".
[[nodiscard]] std::string format_quantity(double value, std::string_view unit);

// What is known of a counter in the time of one pixel: the value, where it is one; else least, mean and most. The first property is the
// name.
[[nodiscard]] std::vector<Property> describe_counter(const Trace& trace, CounterId id, TimeRange pixel);
// "43.2 %, 0.0 % to 98.7 %": mean, least and most in the window; empty where nothing is known.
[[nodiscard]] std::string counter_text(const Trace& trace, CounterId id, TimeRange window);
// Its mean in the window alone.
[[nodiscard]] std::string counter_mean_text(const Trace& trace, CounterId id, TimeRange window);

}  // namespace lanescope::timeline
