// Metrics of GPUs and of the machine: minimum, mean and maximum of each, weighted by time.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../columns/device_text.h"
#include "../report_functions.h"
#include "model/stats/table.h"

namespace lanescope::stats {
namespace {

// The unit in which a counter's values have few digits before the point, and the value of 1 in its series in this unit.
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

// The part of the trace's time that is summarized. For an NVTX range it is the time of the GPU work that the range enqueued, from its first operation
// to its last, because metrics show that work. For a range that enqueued none it is the range's own time.
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

// Values that held in a window with the time for which they held, the smallest first.
class Distribution {
 public:
  Distribution(const CounterSeries& series, TimeRange window) {
    const auto [first, last] = series.overlapping(window);
    CounterReader reader(series);
    for (std::size_t i = first; i < last; ++i) {
      const CounterSample sample = reader.sample(i);
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

std::vector<std::uint8_t> percentiles_of(const ReportOptions& options) {
  return options.percentiles.empty() ? std::vector<std::uint8_t>{95} : options.percentiles;
}

// With the given further columns at the end.
Table metric_table(const ReportOptions& options, std::initializer_list<Column> further) {
  std::vector<Column> columns{texts("Metric"), texts("Unit"), reals("Mean"), reals("Min"), reals("Med"), reals("Max")};
  for (const std::uint8_t percentile : percentiles_of(options)) columns.push_back(reals("P" + std::to_string(percentile)));
  columns.push_back(integers("Samples"));
  columns.insert(columns.end(), further);
  return Table(std::move(columns));
}

// Adds a row for the counter in the window; no row if it has no value there.
void add_metric(Table& table, const Trace& trace, CounterId id, TimeRange window, const ReportOptions& options, std::initializer_list<TextId> further) {
  const Counter& counter = trace.counters()[id];
  const CounterSummary summary = trace.counter_series(id).summarize(window);
  if (summary.empty()) return;
  const Distribution distribution(trace.counter_series(id), window);
  const ShownUnit unit = shown_unit(counter);
  std::vector<Cell> cells{table.add_text(counter.name),
                          table.add_text(unit.text),
                          summary.mean() * unit.factor,
                          static_cast<double>(summary.minimum) * unit.factor,
                          static_cast<double>(distribution.percentile(50)) * unit.factor,
                          static_cast<double>(summary.maximum) * unit.factor};
  for (const std::uint8_t percentile : percentiles_of(options)) cells.emplace_back(static_cast<double>(distribution.percentile(percentile)) * unit.factor);
  cells.emplace_back(static_cast<std::int64_t>(distribution.samples()));
  for (const TextId text : further) cells.emplace_back(text);
  table.add_cells(cells);
}

}  // namespace

Table gpu_metric_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const TimeRange window = window_of(selection, options);
  Table table = metric_table(options, {texts("Group"), texts("Device"), texts("Source Metric")});
  std::vector<CounterId> ids;
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (trace.counters()[id].gpu < trace.gpus().size() && trace.counters()[id].process == kNone) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(), [&](CounterId a, CounterId b) { return trace.counters()[a].gpu < trace.counters()[b].gpu; });
  const DeviceTexts devices(trace);
  for (const CounterId id : ids) {
    const Counter& counter = trace.counters()[id];
    add_metric(table, trace, id, window, options,
               {table.add_text(counter.group), table.add_text(devices.of(counter.gpu)), table.add_text(counter.source_name)});
  }
  return table;
}

Table machine_metric_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  constexpr TimeRange kAlways{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};
  const TimeRange window = selection.time().value_or(kAlways);
  Table table = metric_table(options, {texts("Group"), texts("Source Metric")});
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    const Counter& counter = trace.counters()[id];
    if (counter.gpu == kNone && counter.process == kNone)
      add_metric(table, trace, id, window, options, {table.add_text(counter.group), table.add_text(counter.source_name)});
  }
  return table;
}

}  // namespace lanescope::stats
