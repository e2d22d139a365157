// GPU metrics: samples of a GPU's counters.
#include <algorithm>
#include <array>
#include <cmath>

#include "../left_out.h"
#include "model/trace/median.h"
#include "nsys_context.h"

namespace lanescope::importers {
namespace {

constexpr std::string_view kValues = "GPU_METRICS";
constexpr std::string_view kNames = "TARGET_INFO_GPU_METRICS";

struct Reading {
  Nanoseconds time;
  double value;
};
using Metrics = std::map<std::int64_t, std::vector<Reading>>;  // by metric
using Readings = std::map<std::int64_t, Metrics>;              // by type: a GPU's metrics that were read together

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

// Parses "GPU 1: NVIDIA H200", as Lanescope writes it; from other texts, the number after "GPU".
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

// The largest step of which all values are multiples.
double resolution_of(const std::vector<Reading>& readings) {
  for (const double resolution : {1.0, 0.1, 0.01, 0.001})
    if (std::all_of(readings.begin(), readings.end(), [&](const Reading& reading) {
          const double steps = reading.value / resolution;
          return std::abs(steps - std::round(steps)) < 1e-6 * std::max(1.0, std::abs(steps));
        }))
      return resolution;
  return 1e-6;
}

// How long a value holds: until the next value, but not during a pause, which the table does not distinguish from a constant.
Nanoseconds longest_hold(const std::vector<Nanoseconds>& times) {
  constexpr Nanoseconds kAlone = 1'000'000;  // ns, for a single reading
  constexpr Nanoseconds kPause = 4;          // times the median distance
  if (times.size() < 2) return kAlone;
  std::vector<Nanoseconds> distances;
  for (std::size_t i = 1; i < times.size(); ++i) distances.push_back(times[i] - times[i - 1]);
  constexpr Nanoseconds kLongest = Nanoseconds{1} << 56;
  return kPause * std::min(median(std::move(distances)), kLongest);
}

using MetricReadings = Metrics::const_pointer;

// Ascending, without duplicates.
std::vector<Nanoseconds> times_of(std::span<const MetricReadings> metrics) {
  std::vector<Nanoseconds> times;
  for (const MetricReadings metric : metrics)
    for (const Reading& reading : metric->second) times.push_back(reading.time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

// The metrics of a type in one group. If most of them lack most of its times, groups of metrics with the same times: then a table of metrics and times is
// never much larger than the readings.
std::vector<std::vector<MetricReadings>> read_together(const Metrics& metrics) {
  constexpr std::size_t kSparse = 8;
  std::vector<MetricReadings> all;
  std::size_t readings = 0;
  for (const auto& metric : metrics) {
    all.push_back(&metric);
    readings += metric.second.size();
  }
  if (times_of(all).size() * all.size() <= kSparse * readings) return {all};
  std::map<std::vector<Nanoseconds>, std::vector<MetricReadings>> by_times;
  for (const MetricReadings metric : all) by_times[times_of(std::span(&metric, 1))].push_back(metric);
  std::vector<std::vector<MetricReadings>> groups;
  for (auto& [times, group] : by_times) groups.push_back(std::move(group));
  return groups;
}

// A group of metrics, with all times at which one of them was read.
class GroupImport {
 public:
  explicit GroupImport(std::span<const MetricReadings> metrics) : times_(times_of(metrics)) {}

  void add(TraceBuilder& builder, const Counter& counter, const std::vector<Reading>& readings) {
    counters_.push_back(builder.counter(counter));
    std::vector<std::int64_t>& column = columns_.emplace_back(times_.size(), kNoValue);
    for (const Reading& reading : readings) {
      const auto at = std::lower_bound(times_.begin(), times_.end(), reading.time) - times_.begin();
      constexpr double kLargest = 9e18;
      column[static_cast<std::size_t>(at)] = std::llround(std::clamp(reading.value / counter.resolution, -kLargest, kLargest));
    }
  }

  // Writes stretches without a pause.
  void write(TraceBuilder& builder) const {
    const Nanoseconds hold = longest_hold(times_);
    for (std::size_t first = 0, last = 0; first < times_.size(); first = last) {
      for (last = first + 1; last < times_.size() && times_[last] - times_[last - 1] <= hold;) ++last;
      std::vector<std::vector<std::int64_t>> columns;
      for (const auto& column : columns_)
        columns.emplace_back(column.begin() + static_cast<std::ptrdiff_t>(first), column.begin() + static_cast<std::ptrdiff_t>(last));
      const Nanoseconds usual = hold / 4;
      builder.add_samples(counters_, std::span(times_).subspan(first, last - first), columns, times_[last - 1] + std::max<Nanoseconds>(usual, 1));
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
  std::uint64_t far = 0;
  TableRows rows = context.database.rows(kValues, kValueColumns);
  while (rows.next()) {
    std::vector<Reading>& of_metric = readings[rows.integer(1)][rows.integer(2)];
    if (of_metric.empty()) context.keep(cost::kCounter);
    if (is_near(rows.integer(0)))
      of_metric.push_back({rows.integer(0), rows.real(3)});
    else
      ++far;
    if (!context.count_row()) return {};
  }
  if (!rows.failure().empty()) return unreadable(kValues, rows);
  if (far > 0) say_left_out(context.builder, far, "reading", "of GPU metrics, at times that can't be,");

  constexpr std::array<std::string_view, 5> kNameColumns = {"typeId", "sourceId", "typeName", "metricId", "metricName"};
  std::map<std::pair<std::int64_t, std::int64_t>, MetricName> names;
  std::map<std::int64_t, std::int64_t> sources;  // by type
  TableRows described = context.database.rows(kNames, kNameColumns);
  while (described.next()) {
    names[{described.integer(0), described.integer(3)}] = parsed(described.text(4), described.text(2));
    sources[described.integer(0)] = described.integer(1);
  }
  for (const auto& [type, metrics] : readings)
    for (const auto& group : read_together(metrics)) {
      GroupImport import(group);
      for (const MetricReadings metric : group) {
        const auto found = names.find({type, metric->first});
        const MetricName name = found != names.end() ? found->second : MetricName{"Metric " + std::to_string(metric->first), {}, {}};
        Counter counter;
        counter.gpu = context.builder.gpu(gpu_of(name.type_name, sources[type]));
        counter.name = name.name;
        counter.unit = name.unit;
        counter.maximum = name.unit == "%" ? 100 : 0;
        counter.resolution = resolution_of(metric->second);
        import.add(context.builder, counter, metric->second);
      }
      import.write(context.builder);
    }
  return {};
}

}  // namespace lanescope::importers
