#include "nsys_metrics.h"

#include <cmath>
#include <map>

namespace lanescope::exporters {
namespace {

// Writes integers as integers.
void insert_value(NsysDatabase& database, Nanoseconds time, std::int64_t type, std::int64_t metric, const Counter& counter, std::int64_t value) {
  const double real = static_cast<double>(value) * counter.resolution;
  if (real == std::floor(real) && std::abs(real) < 9e15)
    database.insert(NsysTable::kGpuMetrics, time, time, type, metric, static_cast<std::int64_t>(real));
  else
    database.insert(NsysTable::kGpuMetrics, time, time, type, metric, real);
}

}  // namespace

void write_gpu_metrics(const Trace& trace, const ExportSelection& selection, NsysDatabase& database) {
  std::map<const void*, std::int64_t> types;     // by what counters with the same times share
  std::map<std::int64_t, std::int64_t> metrics;  // for each type, so far
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    const Counter& counter = trace.counters()[id];
    const CounterSeries& series = trace.counter_series(id);
    if (counter.gpu == kNone || counter.process != kNone || series.empty()) continue;
    const Gpu& gpu = trace.gpus()[counter.gpu];
    const std::int64_t type = types.try_emplace(series.times_identity(), static_cast<std::int64_t>(types.size())).first->second;
    const std::int64_t metric = metrics[type]++;
    const std::string name = counter.unit.empty() ? counter.name : counter.name + " [" + counter.unit + "]";
    const std::string type_name = "GPU " + std::to_string(gpu.ordinal) + ": " + gpu.name;
    database.insert(NsysTable::kGpuMetricNames, type, counter.gpu, std::string_view(type_name), metric, std::string_view(name));
    if (!database.wants(NsysTable::kGpuMetrics)) continue;
    const auto [first, last] = selection.values(trace, id);
    CounterReader reader(series);
    for (std::size_t i = first; i < last; ++i)
      if (const CounterSample sample = reader.sample(i); sample.has_value()) insert_value(database, sample.time, type, metric, counter, sample.value);
  }
}

}  // namespace lanescope::exporters
