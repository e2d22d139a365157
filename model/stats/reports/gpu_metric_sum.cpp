// What GPUs' metrics were: least, mean and most of each, weighted by time.
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/stats/table.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

// The unit in which a counter's values have few digits before the point, and what an integer of its series is worth in it.
struct ShownUnit {
  std::string text;
  double factor = 1;
};
ShownUnit shown_unit(const Counter& counter) {
  if (counter.unit == "B/s") return {"MB/s", counter.resolution / 1e6};
  if (counter.unit == "Hz") return {"MHz", counter.resolution / 1e6};
  if (counter.unit == "B") return {"MiB", counter.resolution / 1048576.0};
  return {counter.unit, counter.resolution};
}

// What of the trace's time is meant. An NVTX range stands for the GPU work that it enqueued, from its first operation to its last: that is
// what the metrics show. One that enqueued none stands for its own time.
TimeRange window_of(const Selection& selection, const ReportOptions& options) {
  constexpr TimeRange kAlways{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};
  TimeRange window = selection.time().value_or(kAlways);
  if (!options.range) return window;
  TimeRange work{kAlways.end, kAlways.begin};
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
    selection.for_each(kind, [&](const Track&, const EventView& event) {
      work.begin = std::min(work.begin, event.start());
      work.end = std::max(work.end, event.end());
    });
  if (work.empty()) return window;
  return options.time_range ? work.intersected(*options.time_range) : work;
}

// Values that held in a window with the time for which they did, the smallest first.
class Distribution {
 public:
  Distribution(const CounterSeries& series, TimeRange window) {
    const auto [first, last] = series.overlapping(window);
    for (std::size_t i = first; i < last; ++i) {
      const CounterSample sample = series.sample(i);
      if (!sample.has_value()) continue;
      const Nanoseconds held = TimeRange{sample.time, sample.time + sample.duration}.intersected(window).length();
      parts_.push_back({sample.value, held});
      total_ += held;
    }
    std::sort(parts_.begin(), parts_.end());
  }
  [[nodiscard]] std::size_t samples() const { return parts_.size(); }
  // The smallest value that is not exceeded for this share of the time. Requires: there are samples.
  [[nodiscard]] std::int64_t percentile(unsigned percent) const {
    const double wanted = static_cast<double>(total_) * percent / 100;
    double passed = 0;
    for (const auto& [value, held] : parts_)
      if ((passed += static_cast<double>(held)) >= wanted) return value;
    return parts_.back().first;
  }

 private:
  std::vector<std::pair<std::int64_t, Nanoseconds>> parts_;
  Nanoseconds total_ = 0;
};

}  // namespace

Table gpu_metric_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const TimeRange window = window_of(selection, options);
  std::vector<std::uint8_t> percentiles = options.percentiles;
  if (percentiles.empty()) percentiles = {95};
  std::vector<Column> columns{texts("Metric"), texts("Unit"), reals("Mean"), reals("Min"), reals("Med"), reals("Max")};
  for (const std::uint8_t percentile : percentiles) columns.push_back(reals("P" + std::to_string(percentile)));
  for (Column& column : std::vector<Column>{integers("Samples"), texts("Group"), texts("Device"), texts("Source Metric")})
    columns.push_back(std::move(column));
  Table table(std::move(columns));
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    const Gpu& device = trace.gpus()[gpu];
    const TextId device_name = table.add_text(device.name + " (" + std::to_string(device.ordinal) + ")");
    for (CounterId id = 0; id < trace.counters().size(); ++id) {
      const Counter& counter = trace.counters()[id];
      if (counter.gpu != gpu || counter.process != kNone) continue;
      const CounterSummary summary = trace.counter_series(id).summarize(window);
      if (summary.empty()) continue;
      const Distribution distribution(trace.counter_series(id), window);
      const ShownUnit unit = shown_unit(counter);
      std::vector<Cell> cells{table.add_text(counter.name),
                              table.add_text(unit.text),
                              summary.mean() * unit.factor,
                              static_cast<double>(summary.minimum) * unit.factor,
                              static_cast<double>(distribution.percentile(50)) * unit.factor,
                              static_cast<double>(summary.maximum) * unit.factor};
      for (const std::uint8_t percentile : percentiles)
        cells.emplace_back(static_cast<double>(distribution.percentile(percentile)) * unit.factor);
      cells.emplace_back(static_cast<std::int64_t>(distribution.samples()));
      cells.emplace_back(table.add_text(counter.group));
      cells.emplace_back(device_name);
      cells.emplace_back(table.add_text(counter.source_name));
      table.add_cells(cells);
    }
  }
  return table;
}

}  // namespace lanescope::stats
