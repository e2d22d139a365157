#include "model/kernels/counters/recorded_metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "launch_key.h"
#include "model/kernels/instructions/instruction_mix.h"
#include "model/kernels/launch_kinds.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::kernels {
namespace {

constexpr std::size_t kMostBytes = 256u << 20;  // of names and values stored for a trace; further launches are left out

// The unit of a metric's values, derived from its name.
std::string unit_of(std::string_view metric) {
  if (metric.find(".pct") != metric.npos) return "%";
  const bool is_rate = metric.ends_with(".per_second");
  if (metric.find("bytes") != metric.npos && metric.find(".ratio") == metric.npos) return is_rate ? "byte/s" : "byte";
  if (metric.starts_with("gpu__time_duration")) return "ns";
  return is_rate ? "hz" : "";
}

KernelMetrics metrics_of(const KernelRecords& records) {
  std::vector<Metric> metrics;
  for (const std::string& metric : records.metrics) metrics.push_back({metric, unit_of(metric)});
  return KernelMetrics(std::move(metrics));
}

ProfiledKernel profiled(const Trace& trace, const TrackKey& key, const Event& event, const MeasuredLaunch& launch) {
  ProfiledKernel kernel;
  kernel.name = trace.name(event.name);
  kernel.process = trace.processes()[key.process].name;
  kernel.pid = trace.processes()[key.process].pid;
  kernel.context = key.context;
  kernel.stream = key.stream;
  if (event.detail != 0) kernel.detail = trace.kernel_detail(event.detail);
  if (key.gpu != kNone) {
    kernel.gpu = trace.gpus()[key.gpu];
    kernel.device = device_ordinal(trace, key.process, key.gpu);
  }
  kernel.values.assign(trace.kernel_records().metrics.size(), std::numeric_limits<double>::quiet_NaN());
  for (const MetricValue& value : launch.values) {
    kernel.values[value.metric] = value.value;
    const std::string_view metric = trace.kernel_records().metrics[value.metric];
    constexpr double kMostCounted = 1e17;
    if (metric.starts_with(kOpcodeMetric) && value.value > 0 && value.value <= kMostCounted)
      kernel.opcodes.push_back({std::string(metric.substr(kOpcodeMetric.size())), static_cast<std::uint64_t>(value.value), 0});
  }
  std::stable_sort(kernel.opcodes.begin(), kernel.opcodes.end(), [](const OpcodeCount& a, const OpcodeCount& b) { return a.executed > b.executed; });
  return kernel;
}

// A hit rate is computed from hits and look-ups, which CUPTI counts in separate passes if both do not fit into one. If there are few misses, the number of
// look-ups differs between passes by some percent. A rate from hits and misses depends only on the misses then. If there are many misses, CUPTI's rate is
// kept, because a sector may be missed more than once.
struct HitRate {
  std::size_t rate, hits, misses;  // positions of the metrics
};
std::vector<HitRate> hit_rates(const std::vector<std::string>& metrics) {
  constexpr std::array<std::array<std::string_view, 3>, 2> kRates{{
      {"l1tex__t_sector_hit_rate.pct", "l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors_lookup_miss.sum"},
      {"lts__t_sector_hit_rate.pct", "lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum"},
  }};
  std::vector<HitRate> rates;
  for (const auto& names : kRates) {
    std::array<std::size_t, 3> places;
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), names[i]) - metrics.begin());
    if (*std::max_element(places.begin(), places.end()) < metrics.size()) rates.push_back({places[0], places[1], places[2]});
  }
  return rates;
}
void take_counted(const std::vector<HitRate>& rates, std::vector<double>& values) {
  constexpr double kFew = 0.05;
  for (const HitRate& rate : rates)
    if (const double all = values[rate.hits] + values[rate.misses]; all > 0 && values[rate.misses] < kFew * all)
      values[rate.rate] = 100 * values[rate.hits] / all;
}

using Kind = std::tuple<GpuId, ProcessId, NameId, LaunchShape>;
Kind kind_of(const Trace& trace, const TrackKey& key, const Event& event) {
  return {key.gpu, key.process, event.name, shape_of(trace.kernel_detail(event.detail))};
}

// Visits kernels in segments for which may_have(key, lane, segment) is true; it decodes no segment.
template <typename MayHave, typename Visit>
void for_each_kernel(const Trace& trace, MayHave may_have, Visit visit) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (std::size_t segment = 0; segment < lane.segment_count(); ++segment) {
        if (!may_have(track.key, lane, segment)) continue;
        const auto first = static_cast<EventIndex>(segment * LaneSegment::kCapacity);
        const EventIndex end = first + std::min<EventIndex>(LaneSegment::kCapacity, lane.size() - first);
        for (EventIndex i = first; i < end; ++i) visit(track.key, EventRef{id, i});
      }
    }
  }
}

// True if a segment may have a kernel with such a name. A head decides this if it contains all names.
template <typename IsWanted>
bool may_have_name(const Lane& lane, std::size_t segment, IsWanted is_wanted) {
  const DemandedSegments* const demanded = demanded_segments(lane);
  if (demanded == nullptr || demanded->bounds()[segment].names.empty()) return true;
  const auto& names = demanded->bounds()[segment].names;
  return std::any_of(names.begin(), names.end(), [&](const NameTime& each) { return is_wanted(each.name); });
}

const MeasuredLaunch* launch_of_kernel(const Trace& trace, EventRef kernel) {
  const KernelRecords& records = trace.kernel_records();
  if (records.measured.empty() || !kernel.valid()) return nullptr;
  const TrackKey& key = trace.track_of(kernel.lane).key;
  if (key.kind != TrackKind::kKernels) return nullptr;
  const std::uint32_t correlation = trace.event(kernel).correlation;
  for (const auto& launch : records.measured)
    if (launch->correlation == correlation && launch->process == key.process) return launch.get();
  return nullptr;
}

}  // namespace

RecordedMetrics recorded_metrics(const Trace& trace, std::optional<TimeRange> time) {
  const KernelRecords& records = trace.kernel_records();
  RecordedMetrics result{metrics_of(records), {}, records.left_out};
  if (records.measured.empty()) return result;
  std::unordered_map<std::uint64_t, EventRef> events;  // of the measured launches
  std::vector<std::uint64_t> wanted;
  for (const auto& launch : records.measured) {
    wanted.push_back(launch_key(launch->process, launch->correlation));
    events.try_emplace(wanted.back());
  }
  std::sort(wanted.begin(), wanted.end());
  const auto may_have = [&](const TrackKey& key, const Lane& lane, std::size_t segment) {
    const CorrelationBounds ids = lane.segment_correlations(segment);
    const auto next = std::lower_bound(wanted.begin(), wanted.end(), launch_key(key.process, ids.least));
    return next != wanted.end() && *next <= launch_key(key.process, ids.greatest);
  };
  for_each_kernel(trace, may_have, [&](const TrackKey& key, EventRef ref) {
    const auto found = events.find(launch_key(key.process, trace.lane(ref.lane).correlation(ref.index)));
    if (found != events.end() && !found->second.valid()) found->second = ref;
  });
  const std::vector<HitRate> rates = hit_rates(records.metrics);
  const std::vector<InstructionMix> mixes = instruction_mixes(trace);
  std::size_t bytes = 0;
  for (const auto& launch : records.measured) {
    EventRef& ref = events.at(launch_key(launch->process, launch->correlation));
    if (!ref.valid()) continue;
    const TrackKey& key = trace.track_of(ref.lane).key;
    const Event event = trace.event(ref);
    bytes += trace.name(event.name).size() + trace.processes()[key.process].name.size() + records.metrics.size() * sizeof(double);
    const InstructionMix* const mix = mix_of(mixes, key.process, event.name);
    if (mix != nullptr) bytes += mix->opcodes.size() * sizeof(OpcodeCount);
    if (bytes > kMostBytes) break;
    ProfiledKernel kernel = profiled(trace, key, event, *launch);
    if (launch->passes > 0) take_counted(rates, kernel.values);  // values of other profilers are not changed
    if (mix != nullptr) kernel.opcodes = opcodes_of_a_launch(*mix);
    result.metrics.add(std::move(kernel));
    result.measurements.push_back(
        {ref, key.gpu, key.process, launch->replay, launch->passes, 1 + static_cast<std::uint32_t>(launch->other_launches.size()), launch->spent, {}});
    ref = {};  // a launch that is reported twice counts once
  }
  const auto is_of_time = [&](EventRef kernel) {
    const Lane& lane = trace.lane(kernel.lane);
    return !time || time->takes({lane.start(kernel.index), lane.end(kernel.index)});
  };
  const std::vector<AllLaunches> all = launches_that_count(trace, result.measurements, is_of_time);
  for (std::size_t i = 0; i < all.size(); ++i) result.measurements[i].of_its_kind = all[i];
  return result;
}

std::vector<AllLaunches> launches_that_count(const Trace& trace, const std::vector<Measurement>& measurements, const std::function<bool(EventRef)>& counts) {
  std::vector<AllLaunches> all(measurements.size());
  if (measurements.empty()) return all;
  std::map<Kind, AllLaunches> kinds;
  std::unordered_set<NameId> names;
  std::set<std::pair<GpuId, ProcessId>> owners;
  for (const Measurement& measurement : measurements) {
    const TrackKey& key = trace.track_of(measurement.event.lane).key;
    kinds.try_emplace(kind_of(trace, key, trace.event(measurement.event)));
    names.insert(trace.event(measurement.event).name);
    owners.insert({key.gpu, key.process});
  }
  const auto may_have = [&](const TrackKey& key, const Lane& lane, std::size_t segment) {
    return owners.contains({key.gpu, key.process}) && may_have_name(lane, segment, [&](NameId name) { return names.contains(name); });
  };
  for_each_kernel(trace, may_have, [&](const TrackKey& key, EventRef ref) {
    if (!names.contains(trace.lane(ref.lane).name(ref.index)) || !counts(ref)) return;
    const Event event = trace.event(ref);
    const auto found = kinds.find(kind_of(trace, key, event));
    if (found == kinds.end()) return;
    ++found->second.count;
    found->second.time += event.duration;
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = kinds.at(kind_of(trace, trace.track_of(measurements[i].event.lane).key, trace.event(measurements[i].event)));
  return all;
}

AllLaunches all_like(const Trace& trace, EventRef kernel) {
  AllLaunches all;
  const Kind kind = kind_of(trace, trace.track_of(kernel.lane).key, trace.event(kernel));
  const NameId name = trace.event(kernel).name;
  const TrackKey& own = trace.track_of(kernel.lane).key;
  const auto may_have = [&](const TrackKey& key, const Lane& lane, std::size_t segment) {
    return key.gpu == own.gpu && key.process == own.process && may_have_name(lane, segment, [&](NameId other) { return other == name; });
  };
  for_each_kernel(trace, may_have, [&](const TrackKey& key, EventRef ref) {
    if (trace.lane(ref.lane).name(ref.index) != name) return;
    const Event event = trace.event(ref);
    if (kind_of(trace, key, event) != kind) return;
    ++all.count;
    all.time += event.duration;
  });
  return all;
}

bool is_measured(const Trace& trace, EventRef kernel) { return launch_of_kernel(trace, kernel) != nullptr; }

std::optional<Verdict> verdict_of(const Trace& trace, EventRef kernel) {
  const MeasuredLaunch* const launch = launch_of_kernel(trace, kernel);
  if (launch == nullptr) return std::nullopt;
  KernelMetrics metrics = metrics_of(trace.kernel_records());
  metrics.add(profiled(trace, trace.track_of(kernel.lane).key, trace.event(kernel), *launch));
  return judge(metrics, metrics.kernels().front());
}

Nanoseconds RecordedMetrics::weight(std::size_t kernel) const {
  return measurements.empty() ? duration(metrics, metrics.kernels()[kernel]) : measurements[kernel].of_its_kind.time;
}

std::optional<double> RecordedMetrics::own_clock(std::size_t kernel) const {
  const bool is_ours = kernel < measurements.size() && measurements[kernel].passes > 0;
  return is_ours ? metrics.value(metrics.kernels()[kernel], "gpc__cycles_elapsed.avg.per_second") : std::nullopt;
}

std::optional<std::size_t> RecordedMetrics::of_kind(std::string_view name, const KernelDetail& shape, EventRef event,
                                                    const std::function<bool(const Measurement&)>& counts) const {
  for (std::size_t i = 0; i < measurements.size(); ++i)
    if (event.valid() && measurements[i].event == event) return i;
  for (const std::size_t i : one_of_each(counts)) {
    const ProfiledKernel& kernel = metrics.kernels()[i];
    if (kernel.name == name && shape_of(kernel.detail) == shape_of(shape)) return i;
  }
  return std::nullopt;
}

std::vector<std::size_t> RecordedMetrics::one_of_each(const std::function<bool(const Measurement&)>& counts) const {
  std::vector<std::size_t> order(metrics.kernels().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto by_weight = [this](std::size_t a, std::size_t b) { return std::pair(weight(b), a) < std::pair(weight(a), b); };
  std::sort(order.begin(), order.end(), by_weight);
  if (measurements.empty()) return order;
  using KernelKind = std::tuple<GpuId, ProcessId, std::string_view, LaunchShape>;
  std::map<KernelKind, std::vector<std::size_t>> kinds;
  for (const std::size_t number : order) {
    if (counts && !counts(measurements[number])) continue;
    const ProfiledKernel& kernel = metrics.kernels()[number];
    kinds[{measurements[number].gpu, measurements[number].process, kernel.name, shape_of(kernel.detail)}].push_back(number);
  }
  std::vector<std::size_t> chosen;
  for (auto& [kind, measured] : kinds) {
    const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
    std::nth_element(measured.begin(), middle, measured.end(),
                     [this](std::size_t a, std::size_t b) { return duration(metrics, metrics.kernels()[a]) < duration(metrics, metrics.kernels()[b]); });
    chosen.push_back(*middle);
  }
  std::sort(chosen.begin(), chosen.end(), by_weight);
  return chosen;
}

}  // namespace lanescope::kernels
