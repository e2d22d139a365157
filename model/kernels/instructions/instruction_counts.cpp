#include "model/kernels/instructions/instruction_counts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "code/code_lines.h"
#include "counted_places.h"
#include "launch_key.h"
#include "model/trace/kernel_records.h"

namespace lanescope::kernels {
namespace {

constexpr std::array<std::string_view, kCountKinds> kMetrics{
    "smsp__sass_inst_executed",
    "smsp__sass_thread_inst_executed",
    "smsp__sass_thread_inst_executed_pred_on",
    "smsp__sass_branch_targets_threads_divergent",
    "smsp__sass_sectors_mem_global",
    "smsp__sass_sectors_mem_global_ideal",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    "smsp__sass_sectors_mem_local",
};

std::optional<Count> count_of(std::string_view metric) {
  const auto found = std::find(kMetrics.begin(), kMetrics.end(), metric);
  if (found == kMetrics.end()) return std::nullopt;
  return static_cast<Count>(found - kMetrics.begin());
}

// The launches whose kernels overlap the time.
std::unordered_set<std::uint64_t> launches_within(const Trace& trace, TimeRange time) {
  std::unordered_set<std::uint64_t> launches;
  for (const auto& counts : trace.kernel_records().counted) launches.insert(launch_key(counts->process, counts->correlation));
  std::unordered_set<std::uint64_t> within;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const std::uint64_t key = launch_key(track.key.process, lane.correlation(i));
        if (launches.contains(key) && lane.start(i) < time.end && lane.start(i) + lane.duration(i) > time.begin) within.insert(key);
      }
    }
  }
  return within;
}

struct Group {
  Counts counts;
  std::optional<AccessStride> stride;  // of the instruction with most sectors beyond the minimum
  std::uint64_t excess = 0;            // these sectors
};

}  // namespace

std::optional<AccessStride> stride_of(const Counts& counts, std::uint32_t bytes) {
  if (!counts.has(Count::kGlobalSectors) || !counts.has(Count::kGlobalSectorsIdeal)) return std::nullopt;
  return access_stride(static_cast<double>(counts.of(Count::kGlobalSectors)), static_cast<double>(counts.of(Count::kGlobalSectorsIdeal)), bytes);
}

std::vector<std::string> instruction_metrics() { return {kMetrics.begin(), kMetrics.end()}; }

void Counts::set(Count count, std::uint64_t value) noexcept {
  values[static_cast<std::size_t>(count)] = value;
  known |= std::uint32_t{1} << static_cast<unsigned>(count);
}

Counts& Counts::operator+=(const Counts& other) noexcept {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  known |= other.known;
  return *this;
}

CountReader::CountReader(const KernelRecords& records, const InstructionCounts& counts) : counts_(counts) {
  for (const std::uint32_t metric : counts.metrics) kinds_.push_back(count_of(records.metrics[metric]));
}

Counts CountReader::row(std::size_t row) const noexcept {
  Counts counts;
  for (std::size_t metric = 0; metric < kinds_.size(); ++metric)
    if (kinds_[metric]) counts.set(*kinds_[metric], counts_.value(metric, row));
  return counts;
}

CountedPlaces counted_places(const Trace& trace, SumBy by, const std::optional<TimeRange>& time) {
  const KernelRecords& records = trace.kernel_records();
  std::unordered_set<std::uint64_t> wanted;
  if (time) wanted = launches_within(trace, *time);
  CountedPlaces places;
  for (const auto& counts : records.counted) {
    if (time && !wanted.contains(launch_key(counts->process, counts->correlation))) continue;
    const CountReader reader(records, *counts);
    for (std::size_t row = 0; row < counts->rows.size(); ++row)
      places[{counts->rows[row].function, by == SumBy::kKernel ? 0 : counts->rows[row].pc}] += reader.row(row);
  }
  return places;
}

std::map<std::pair<ProcessId, NameId>, std::uint64_t> counted_launches(const Trace& trace, const std::optional<TimeRange>& time) {
  const KernelRecords& records = trace.kernel_records();
  std::unordered_set<std::uint64_t> wanted;
  if (time) wanted = launches_within(trace, *time);
  std::map<std::pair<ProcessId, NameId>, std::unordered_set<std::uint64_t>> launches;  // a launch that was counted in several passes counts once
  for (const auto& counts : records.counted) {
    const std::uint64_t launch = launch_key(counts->process, counts->correlation);
    if (time && !wanted.contains(launch)) continue;
    GpuFunctionId last = kNone;
    for (const auto& row : counts->rows)
      if (std::exchange(last, row.function) != row.function)
        launches[{records.functions[row.function].process, records.functions[row.function].name}].insert(launch);
  }
  std::map<std::pair<ProcessId, NameId>, std::uint64_t> numbers;
  for (const auto& [kernel, all] : launches) numbers.emplace(kernel, all.size());
  return numbers;
}

std::vector<CountedPlaces::const_iterator> in_order_of_code(const CountedPlaces& places, const CodeLines& code) {
  std::vector<CountedPlaces::const_iterator> order;
  for (auto place = places.cbegin(); place != places.cend(); ++place) order.push_back(place);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return code.code_of(a->first.first) < code.code_of(b->first.first); });
  return order;
}

std::vector<CountSum> sum_counts(const Trace& trace, SumBy by, std::optional<TimeRange> time) {
  const KernelRecords& records = trace.kernel_records();
  const CountedPlaces places = counted_places(trace, by, time);
  CodeLines lines(trace);
  std::map<std::tuple<ProcessId, NameId, std::string, std::uint32_t>, Group> groups;
  for (const auto& place : in_order_of_code(places, lines)) {
    const auto& [id, pc] = place->first;
    const GpuFunction& function = records.functions[id];
    Group& group = groups[{function.process, function.name, by == SumBy::kKernel ? std::string() : lines.text(id, pc), by == SumBy::kInstruction ? pc : 0}];
    group.counts += place->second;
    if (by == SumBy::kKernel || place->second.excess_sectors() <= group.excess) continue;
    group.excess = place->second.excess_sectors();
    group.stride = stride_of(place->second, lines.access_bytes(id, pc));
  }
  std::vector<CountSum> sums;
  for (const auto& [key, group] : groups) sums.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), group.counts, group.stride});
  // Equal ones are sorted by text, because ids of texts differ between files.
  std::stable_sort(sums.begin(), sums.end(), [&trace](const CountSum& a, const CountSum& b) {
    const auto executed_a = a.counts.of(Count::kExecuted), executed_b = b.counts.of(Count::kExecuted);
    if (executed_a != executed_b) return executed_a > executed_b;
    return std::tuple(trace.name(a.kernel), std::string_view(a.line), a.pc) < std::tuple(trace.name(b.kernel), std::string_view(b.line), b.pc);
  });
  return sums;
}

}  // namespace lanescope::kernels
