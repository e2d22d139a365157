#include "timeline/core/pixels/counter_pixels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "model/trace/text/percent.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

std::string with_decimals(double value, int decimals, std::string_view unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return unit.empty() ? std::string(text) : std::string(text) + " " + std::string(unit);
}

// The smallest 1, 2 or 5 times a power of ten that is not below the value.
double rounded_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0})
    if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

std::string in_unit(const Counter& counter, double value) { return format_quantity(value * counter.resolution, counter.unit); }

}  // namespace

double CounterScale::height_of(double value) const noexcept { return std::clamp((value - bottom) / (top - bottom), 0.0, 1.0); }

CounterScale counter_scale(const Trace& trace, CounterId id) {
  const Counter& counter = trace.counters()[id];
  const CounterSeries& series = trace.counter_series(id);
  const CounterSummary all = series.summarize(series.extent());
  CounterScale scale{0, counter.maximum};
  const double least = all.empty() ? 0 : static_cast<double>(all.minimum) * counter.resolution;
  const double most = all.empty() ? 0 : static_cast<double>(all.maximum) * counter.resolution;
  if (least < 0) scale.bottom = -rounded_up(-least);
  if (scale.top <= 0) scale.top = most > 0 ? rounded_up(most) : scale.bottom < 0 ? 0 : 1;
  return scale;
}

std::string scale_text(const Trace& trace, CounterId id, const CounterScale& scale) {
  const std::string& unit = trace.counters()[id].unit;
  if (unit != "%") return format_quantity(scale.top, unit);
  return scale.top < 1 ? format_percent(scale.top, 2) : format_percent(scale.top, 0);  // a round number, see counter_scale()
}

Rgb counter_color(const Trace& trace, CounterId id, ColorScheme scheme) noexcept {
  constexpr std::array kHues{200.0, 150.0, 275.0, 30.0, 340.0, 90.0};
  std::size_t hash = 5;
  for (const char c : trace.counters()[id].group) hash = hash * 31 + static_cast<unsigned char>(c);
  const bool dark = scheme == ColorScheme::kDark;
  return from_hsl(kHues[hash % kHues.size()], dark ? 0.60 : 0.70, dark ? 0.62 : 0.38);
}

namespace {

std::vector<Nanoseconds> edges_of(const Viewport& viewport, std::size_t first, std::size_t count) {
  std::vector<Nanoseconds> edges(count + 1);
  for (std::size_t x = 0; x <= count; ++x) edges[x] = viewport.time_at(static_cast<std::int64_t>(first + x));
  return edges;
}

}  // namespace

void fill_counter_columns(const CounterSeries& series, const Viewport& viewport, std::size_t first, std::span<CounterSummary> into) {
  const std::vector<Nanoseconds> edges = edges_of(viewport, first, into.size());
  series.summarize(edges, into);
  // If a pixel is shorter than a nanosecond, its window is empty: it shows the value at that time.
  for (std::size_t x = 0; x < into.size(); ++x)
    if (edges[x] == edges[x + 1]) into[x] = series.summarize({edges[x], edges[x] + 1});
}

std::vector<CounterSummary> counter_columns(const CounterSeries& series, const Viewport& viewport) {
  std::vector<CounterSummary> columns(static_cast<std::size_t>(viewport.width));
  fill_counter_columns(series, viewport, 0, columns);
  return columns;
}

CounterColumns counter_outline(const CounterSeries& series, const Viewport& viewport) {
  CounterColumns outline;
  outline.columns.resize(static_cast<std::size_t>(viewport.width));
  const std::vector<Nanoseconds> edges = edges_of(viewport, 0, outline.columns.size());
  outline.detail = series.outline(edges, outline.columns);
  for (std::size_t x = 0; x < outline.columns.size(); ++x)
    if (edges[x] == edges[x + 1]) {
      const Nanoseconds instant[] = {edges[x], edges[x] + 1};
      if (series.outline(instant, std::span(outline.columns).subspan(x, 1)) == CounterSeries::Detail::kOutline)
        outline.detail = CounterSeries::Detail::kOutline;
    }
  return outline;
}

std::string format_quantity(double value, std::string_view unit) {
  if (unit == "%") return format_percent(value);
  if (unit == "B" && value >= 0) return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
  struct Prefix {
    double factor;
    const char* text;
  };
  constexpr std::array<Prefix, 5> kPrefixes{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  const bool scales = unit == "B/s" || unit == "Hz" || unit == "1/s" || unit == "B";
  if (!scales)
    return with_decimals(value, std::abs(value) < 100 && value != std::floor(value) ? 2 : std::abs(value) < 1000 && value != std::floor(value) ? 1 : 0, unit);
  for (const Prefix& prefix : kPrefixes)
    if (std::abs(value) >= prefix.factor) return with_decimals(value / prefix.factor, prefix.factor > 1 ? 2 : 0, prefix.text + std::string(unit));
  return with_decimals(value, 0, unit);
}

std::vector<Property> describe_counter(const Trace& trace, CounterId id, TimeRange pixel) {
  const Counter& counter = trace.counters()[id];
  const CounterSeries& series = trace.counter_series(id);
  pixel.end = std::max(pixel.end, pixel.begin + 1);
  const CounterSummary summary = series.summarize(pixel);
  std::vector<Property> properties{{"", Message(std::string_view(counter.name))}};
  const auto [first, last] = series.overlapping(pixel);
  if (summary.empty()) {
    properties.push_back({"Value", "not known here"});
  } else if (last - first == 1) {
    const CounterSample sample = series.sample(first);
    properties.push_back({"Value", in_unit(counter, static_cast<double>(sample.value))});
    properties.push_back({"From", format_time(sample.time)});
    properties.push_back({"For", format_duration(sample.duration)});
  } else {
    properties.push_back({"Mean", in_unit(counter, summary.mean())});
    properties.push_back({"Least", in_unit(counter, static_cast<double>(summary.minimum))});
    properties.push_back({"Most", in_unit(counter, static_cast<double>(summary.maximum))});
    properties.push_back({"Samples", Message("{number} in this pixel", {{"number", format_count(last - first)}})});
    properties.push_back({"Length", format_duration(pixel.length())});
  }
  if (counter.gpu != kNone) {
    const Gpu& gpu = trace.gpus()[counter.gpu];
    properties.push_back({"Device", "GPU " + std::to_string(gpu.ordinal) + (gpu.name.empty() ? "" : "  " + gpu.name)});
  }
  if (!counter.description.empty()) properties.push_back({"What it is", Message(std::string_view(counter.description))});
  if (!counter.source_name.empty()) properties.push_back({"Metric", counter.source_name});
  return properties;
}

std::string counter_text(const Trace& trace, CounterId id, TimeRange window) {
  const Counter& counter = trace.counters()[id];
  const CounterSummary summary = trace.counter_series(id).summarize(window);
  if (summary.empty()) return {};
  return in_unit(counter, summary.mean()) + ", " + in_unit(counter, static_cast<double>(summary.minimum)) + " to " +
         in_unit(counter, static_cast<double>(summary.maximum));
}

std::string counter_mean_text(const Trace& trace, CounterId id, TimeRange window) {
  const CounterSummary summary = trace.counter_series(id).summarize(window);
  return summary.empty() ? std::string() : in_unit(trace.counters()[id], summary.mean());
}

}  // namespace lanescope::timeline
