// GPU metrics: what was sampled of a GPU's counters.
#include <algorithm>
#include <array>
#include <cmath>

#include "nsys_context.h"

namespace lanescope::importers {
namespace {

constexpr std::string_view kValues = "GPU_METRICS";
constexpr std::string_view kNames = "TARGET_INFO_GPU_METRICS";

struct Reading {
  Nanoseconds time;
  double value;
};
// By type (a GPU's metrics that were read together) and metric.
using Readings = std::map<std::int64_t, std::map<std::int64_t, std::vector<Reading>>>;

struct MetricName {
  std::string name;  // without the unit
  std::string unit;
  std::string type_name;
};

// "SMs Active [Throughput %]" -> "SMs Active", "%".
MetricName parsed(std::string_view text, std::string_view type_name) {
  MetricName result{std::string(text), {}, std::string(type_name)};
  const auto open = text.rfind(" [");
  if (open == text.npos || !text.ends_with(']')) return result;
  const std::string_view unit = text.substr(open + 2, text.size() - open - 3);
  result.name = text.substr(0, open);
  result.unit = unit.ends_with('%') ? "%" : unit;
  return result;
}

// "GPU 1: NVIDIA H200" as Lanescope writes it; of any other text, the number behind "GPU".
Gpu gpu_of(std::string_view type_name, std::int64_t source) {
  Gpu gpu;
  gpu.ordinal = static_cast<std::uint32_t>(source);
  const auto found = type_name.find("GPU ");
  if (found == type_name.npos) return gpu;
  std::size_t end = found + 4;
  std::uint32_t number = 0;
  for (; end < type_name.size() && end < found + 9 && type_name[end] >= '0' && type_name[end] <= '9'; ++end)
    number = number * 10 + static_cast<std::uint32_t>(type_name[end] - '0');
  if (end > found + 4) gpu.ordinal = number;
  if (found == 0 && type_name.substr(end).starts_with(": ")) gpu.name = type_name.substr(end + 2);
  return gpu;
}

// The coarsest step in which all values are whole.
double resolution_of(const std::vector<Reading>& readings) {
  for (const double resolution : {1.0, 0.1, 0.01, 0.001})
    if (std::all_of(readings.begin(), readings.end(), [&](const Reading& reading) {
          const double steps = reading.value / resolution;
          return std::abs(steps - std::round(steps)) < 1e-6 * std::max(1.0, std::abs(steps));
        }))
      return resolution;
  return 1e-6;
}

// For how long a value holds: until the next, but not through a pause, which the table does not tell from a constant.
Nanoseconds longest_hold(const std::vector<Nanoseconds>& times) {
  constexpr Nanoseconds kAlone = 1'000'000;  // ns, for one reading
  constexpr Nanoseconds kPause = 4;          // times the usual distance
  if (times.size() < 2) return kAlone;
  std::vector<Nanoseconds> distances;
  for (std::size_t i = 1; i < times.size(); ++i) distances.push_back(times[i] - times[i - 1]);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return kPause * *middle;
}

// All metrics of one type, at all times at which one of them was read.
class TypeImport {
 public:
  explicit TypeImport(const std::map<std::int64_t, std::vector<Reading>>& metrics) {
    for (const auto& [metric, readings] : metrics)
      for (const Reading& reading : readings) times_.push_back(reading.time);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }

  void add(TraceBuilder& builder, const Counter& counter, const std::vector<Reading>& readings) {
    counters_.push_back(builder.counter(counter));
    std::vector<std::int64_t>& column = columns_.emplace_back(times_.size(), kNoValue);
    for (const Reading& reading : readings) {
      const auto at = std::lower_bound(times_.begin(), times_.end(), reading.time) - times_.begin();
      column[static_cast<std::size_t>(at)] = std::llround(reading.value / counter.resolution);
    }
  }

  // In stretches without a pause.
  void write(TraceBuilder& builder) const {
    const Nanoseconds hold = longest_hold(times_);
    for (std::size_t first = 0, last = 0; first < times_.size(); first = last) {
      for (last = first + 1; last < times_.size() && times_[last] - times_[last - 1] <= hold;) ++last;
      std::vector<std::vector<std::int64_t>> columns;
      for (const auto& column : columns_)
        columns.emplace_back(column.begin() + static_cast<std::ptrdiff_t>(first), column.begin() + static_cast<std::ptrdiff_t>(last));
      const Nanoseconds usual = hold / 4;
      builder.add_samples(counters_, std::span(times_).subspan(first, last - first), columns,
                          times_[last - 1] + std::max<Nanoseconds>(usual, 1));
    }
  }

 private:
  std::vector<Nanoseconds> times_;
  std::vector<CounterId> counters_;
  std::vector<std::vector<std::int64_t>> columns_;
};

}  // namespace

Result<void> import_gpu_metrics(NsysContext& context) {
  constexpr std::array<std::string_view, 4> kValueColumns = {"timestamp", "typeId", "metricId", "value"};
  Readings readings;
  TableRows rows = context.database.rows(kValues, kValueColumns);
  while (rows.next()) {
    readings[rows.integer(1)][rows.integer(2)].push_back({rows.integer(0), rows.real(3)});
    if (!context.count_row()) return {};
  }
  if (!rows.failure().empty()) return unreadable(kValues, rows);

  constexpr std::array<std::string_view, 5> kNameColumns = {"typeId", "sourceId", "typeName", "metricId", "metricName"};
  std::map<std::pair<std::int64_t, std::int64_t>, MetricName> names;
  std::map<std::int64_t, std::int64_t> sources;  // of types
  TableRows described = context.database.rows(kNames, kNameColumns);
  while (described.next()) {
    names[{described.integer(0), described.integer(3)}] = parsed(described.text(4), described.text(2));
    sources[described.integer(0)] = described.integer(1);
  }
  for (const auto& [type, metrics] : readings) {
    TypeImport import(metrics);
    for (const auto& [metric, values] : metrics) {
      const auto found = names.find({type, metric});
      const MetricName name = found != names.end() ? found->second : MetricName{"Metric " + std::to_string(metric), {}, {}};
      Counter counter;
      counter.gpu = context.builder.gpu(gpu_of(name.type_name, sources[type]));
      counter.name = name.name;
      counter.unit = name.unit;
      counter.maximum = name.unit == "%" ? 100 : 0;
      counter.resolution = resolution_of(values);
      import.add(context.builder, counter, values);
    }
    import.write(context.builder);
  }
  return {};
}

}  // namespace lanescope::importers
