#include "iterations.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "model/events/name_family.h"
#include "model/import/chrome_json.h"
#include "model/trace/combining/parts.h"
#include "model/trace/domains/file_access.h"
#include "model/trace/domains/kernel_domains.h"
#include "model/trace/median.h"
#include "threads/call_class.h"
#include "wording.h"
#include "xla_modules.h"

namespace lanescope::analysis {

std::vector<TimeRange> iteration_times(const Trace& trace, const IterationSeries& series) {
  std::vector<TimeRange> times;
  for (const EventRef range : series.ranges) {
    const Lane& lane = trace.lane(range.lane);
    if (series.extent == IterationSeries::Extent::kToNext && !times.empty()) times.back().end = lane.start(range.index);
    times.push_back({lane.start(range.index), lane.end(range.index)});
  }
  if (series.extent == IterationSeries::Extent::kToNext && !times.empty()) times.pop_back();
  return times;
}

namespace {

// The ranges of one family in one lane. Executions that a compiler tries out count for nothing: they may be iterations only where asked
// for.
struct Candidate {
  LaneId lane = kNone;
  FamilyId family = 0;
  std::uint64_t count = 0;
  Nanoseconds total = 0;      // that they take: of executions, with what they launch
  Nanoseconds lane_span = 0;  // from the lane's first event to its last
};

// Iterations cover at least one part in this many of their lane's span; what repeats and covers less is a detail.
constexpr Nanoseconds kLeastCoverage = 4;
// Nor do they repeat as often as this: rules keep some of each.
constexpr std::uint64_t kMostIterations = 4'000'000;

// Ranges that PyTorch marks by itself: parts of a step, which repeat as often.
bool is_part_of_step(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> kParts{"enumerate(DataLoader)", "Optimizer.", "DistributedDataParallel.", "FullyShardedDataParallel.",
                                                   "## Call CompiledFxGraph"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) { return name.starts_with(part); });
}

// What PyTorch's profiler calls a step of its schedule; before 2022 it stood among the operators.
bool is_profiler_step(std::string_view name) noexcept { return name.starts_with("ProfilerStep"); }

enum class Marks : std::uint8_t {
  kIterations,     // ranges that may be iterations
  kXlaExecutions,  // ranges that may begin them
};

std::vector<Candidate> candidates_of(const Trace& trace, Families& families, Marks marks, SharedLaunchIndex& launches) {
  std::vector<Candidate> candidates;
  NameMemo<bool> xla(trace, is_of_xla), xla_execution(trace, is_xla_execution);
  NameMemo<bool> communication(trace, is_communication_name), framework(trace, is_part_of_step), profiler_step(trace, is_profiler_step);
  std::vector<std::uint32_t> places;  // in what a lane has, by family
  std::optional<XlaCompilation> compilation;
  if (marks == Marks::kXlaExecutions) compilation.emplace(trace);
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    const std::string_view domain = trace.domain_name(track.key.process, track.key.domain);
    if (is_communication_domain(domain) || domain == kPythonDomainName || domain == kSystemCallDomain || domain == kFileAccessDomain) continue;
    const bool operators = domain == kOperatorDomainName;
    for (const LaneId id : track.lanes) {
      std::vector<Candidate> in_lane;
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (marks == Marks::kXlaExecutions ? !xla_execution(lane.name(i)) : xla(lane.name(i))) continue;  // first, since few names are of XLA
        if (communication(lane.name(i)) || framework(lane.name(i)) || (operators && !profiler_step(lane.name(i)))) continue;
        const FamilyId family = families.of_name(lane.name(i));
        if (places.size() < families.size()) places.resize(families.size(), kNone);
        if (places[family] == kNone) {
          places[family] = static_cast<std::uint32_t>(in_lane.size());
          in_lane.push_back({.lane = id, .family = family, .lane_span = lane.extent().length()});
        }
        Candidate& candidate = in_lane[places[family]];
        if (compilation && compilation->is_under_way(track.key.process, lane.start(i))) continue;
        ++candidate.count;
        candidate.total += lane.duration(i);
      }
      for (const Candidate& candidate : in_lane) places[candidate.family] = kNone;
      std::sort(in_lane.begin(), in_lane.end(), [](const Candidate& a, const Candidate& b) { return a.family < b.family; });
      if (candidates.empty())
        candidates = std::move(in_lane);  // one lane may have millions
      else
        candidates.insert(candidates.end(), in_lane.begin(), in_lane.end());
    }
  }
  if (compilation && !candidates.empty()) {
    std::set<ProcessId> processes;
    for (const Candidate& candidate : candidates) processes.insert(trace.track_of(candidate.lane).key.process);
    const auto gpu_times = gpu_time_of_xla_executions(trace, families, *compilation, processes, launches.of(trace));
    for (Candidate& candidate : candidates)
      if (const auto time = gpu_times.find({candidate.lane, candidate.family}); time != gpu_times.end()) candidate.total += time->second;
  }
  return candidates;
}

bool covers_more(const Candidate& a, const Candidate& b) { return a.total != b.total ? a.total > b.total : a.lane < b.lane; }

// What executions launch goes on behind them, so that they may cover little.
FamilyId choose_family(const std::vector<Candidate>& candidates, Marks marks) {
  for (const std::uint64_t least : {std::uint64_t{5}, std::uint64_t{3}}) {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates)
      if (candidate.count >= least && candidate.count <= kMostIterations &&
          (marks == Marks::kXlaExecutions || candidate.total >= candidate.lane_span / kLeastCoverage) && (best == nullptr || covers_more(candidate, *best)))
        best = &candidate;
    if (best != nullptr) return best->family;
  }
  return 0;
}

FamilyId family_named(const std::vector<Candidate>& candidates, const Families& families, std::string_view wanted) {
  const std::string family = name_family(wanted);
  for (const Candidate& candidate : candidates)
    if (families.text(candidate.family) == family) return candidate.family;
  return 0;
}

IterationSeries series_of(const Trace& trace, Families& families, const Candidate& candidate) {
  const TrackKey& key = trace.track_of(candidate.lane).key;
  IterationSeries series{key.process, key.thread, candidate.family, {}};
  const Lane& lane = trace.lane(candidate.lane);
  for (EventIndex i = 0; i < lane.size(); ++i)
    if (families.of_name(lane.name(i)) == candidate.family) series.ranges.push_back({candidate.lane, i});
  return series;
}

// Whether the recording began in the middle of the process's life.
bool was_attached_to(const Trace& trace, ProcessId process) {
  const std::uint32_t pid = trace.processes()[process].pid;
  if (pid == 0) return false;  // not known; no process was attached to stands as 0, too
  const TracePart* const part = part_of_process(trace, process);
  return (part == nullptr ? trace.provenance() : part->provenance).attached_pid == pid;
}

// When the first GPU work that the trace has of the process was enqueued, of that whose call it has, too; where it has no such calls, when the first
// began.
std::optional<Nanoseconds> first_gpu_work(const Trace& trace, ProcessId process, const LaunchIndex& launches) {
  std::optional<Nanoseconds> enqueued, begun;
  const auto earliest = [](std::optional<Nanoseconds>& first, Nanoseconds time) { first = std::min(first.value_or(time), time); };
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches}) {
    for (const TrackId track : trace.tracks_of(process, kind)) {
      for (const LaneId id : trace.tracks()[track].lanes) {
        const Lane& lane = trace.lane(id);
        if (lane.size() > 0) earliest(begun, lane.start(0));
        for (EventIndex i = 0; i < lane.size(); ++i) {
          const EventRef launch = launches.find(process, lane.correlation(i), lane.start(i));
          if (!launch.valid()) continue;
          earliest(enqueued, trace.lane(launch.lane).start(launch.index));
          break;
        }
      }
    }
  }
  return enqueued ? enqueued : begun;
}

// What of the recording of a process was saved; none where all was.
std::optional<TimeRange> saved_time(const Trace& trace, ProcessId process) {
  const std::optional<SavedPart> saved = saved_part_of(trace, part_of_process(trace, process));
  return saved ? std::optional(saved->time) : std::nullopt;
}

// From when on a process enqueued GPU work that a saved part lacks, as its GPUs did it behind the part: behind the last that it has. The end of time where it
// lacks none.
Nanoseconds first_lacking_work(const Trace& trace, ProcessId process, const LaunchIndex& launches) {
  std::optional<Nanoseconds> last;
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
    for (const TrackId track : trace.tracks_of(process, kind))
      for (const LaneId id : trace.tracks()[track].lanes) {
        const Lane& lane = trace.lane(id);
        if (lane.size() == 0) continue;
        const EventRef launch = launches.find(process, lane.correlation(lane.size() - 1), lane.start(lane.size() - 1));
        if (launch.valid()) last = std::max(last.value_or(0), trace.lane(launch.lane).start(launch.index));
      }
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  if (!last) return first;
  NameMemo<bool> enqueues(trace, enqueues_gpu_work);
  for (const TrackId track : trace.tracks_of(process, TrackKind::kCudaApi)) {
    const Lane& calls = trace.lane(trace.tracks()[track].lanes.front());  // outermost ones
    EventIndex i = calls.lower_bound(*last + 1);
    while (i < calls.size() && !enqueues(calls.name(i))) ++i;
    if (i < calls.size()) first = std::min(first, calls.start(i));
  }
  return first;
}

// How many iterations at the beginning and at the end the recording does not have whole.
struct Incomplete {
  std::size_t first = 0;
  std::size_t last = 0;
};

Incomplete incomplete_iterations(const Trace& trace, const IterationSeries& series, SharedLaunchIndex& launches) {
  Incomplete incomplete;
  const auto start_of = [&](EventRef range) { return trace.lane(range.lane).start(range.index); };
  if (was_attached_to(trace, series.process))
    if (const auto first_work = first_gpu_work(trace, series.process, launches.of(trace))) {
      const auto whole = std::find_if(series.ranges.begin(), series.ranges.end(), [&](EventRef range) { return start_of(range) >= *first_work; });
      if (whole != series.ranges.end()) incomplete.first = static_cast<std::size_t>(whole - series.ranges.begin());
    }
  const EventRef last = series.ranges.back();
  // What begins an iteration that lasts to the next ends the one before all the same.
  const bool ends_itself = series.extent == IterationSeries::Extent::kRange;
  if (ends_itself && trace.nvtx_detail(trace.lane(last.lane).detail(last.index)).finished == Finished::kNo) incomplete.last = 1;
  if (const std::optional<TimeRange> saved = saved_time(trace, series.process)) {
    const std::vector<TimeRange> times = iteration_times(trace, series);
    const Nanoseconds end = std::min(saved->end, first_lacking_work(trace, series.process, launches.of(trace)));
    const auto begins_before = std::count_if(times.begin(), times.end(), [&](const TimeRange& time) { return time.begin < saved->begin; });
    const auto ends_behind = std::count_if(times.begin(), times.end(), [&](const TimeRange& time) { return time.end > end; });
    incomplete.first = std::max(incomplete.first, static_cast<std::size_t>(begins_before));
    incomplete.last = std::max(incomplete.last, static_cast<std::size_t>(ends_behind));
  }
  return incomplete;
}

// Ranks whose iterations are the same by their order keep the same ones.
void leave_out_incomplete(const Trace& trace, std::vector<IterationSeries>& all, SharedLaunchIndex& launches) {
  std::map<std::size_t, Incomplete> by_count;
  for (const IterationSeries& series : all) {
    const Incomplete of_series = incomplete_iterations(trace, series, launches);
    Incomplete& of_count = by_count[series.ranges.size()];
    of_count = {std::max(of_count.first, of_series.first), std::max(of_count.last, of_series.last)};
  }
  for (IterationSeries& series : all) {
    const Incomplete& of_count = by_count[series.ranges.size()];
    series.left_out = of_count.first + of_count.last;
    if (series.left_out >= series.ranges.size()) series.left_out = 0;
    if (series.left_out == 0) continue;
    series.ranges.erase(series.ranges.end() - static_cast<std::ptrdiff_t>(of_count.last), series.ranges.end());
    series.ranges.erase(series.ranges.begin(), series.ranges.begin() + static_cast<std::ptrdiff_t>(of_count.first));
  }
  std::erase_if(all, [&](const IterationSeries& series) { return iteration_times(trace, series).empty(); });
}

std::vector<IterationSeries> find_marked(const Trace& trace, Families& families, std::string_view wanted, Marks marks, SharedLaunchIndex& launches) {
  const std::vector<Candidate> candidates = candidates_of(trace, families, marks, launches);
  const FamilyId family = wanted.empty() ? choose_family(candidates, marks) : family_named(candidates, families, wanted);
  if (family == 0) return {};
  std::map<ProcessId, Candidate> best;  // by process, the lane with most of it
  for (const Candidate& candidate : candidates) {
    if (candidate.family != family) continue;
    const auto [entry, is_new] = best.try_emplace(trace.track_of(candidate.lane).key.process, candidate);
    if (!is_new && covers_more(candidate, entry->second)) entry->second = candidate;
  }
  std::vector<IterationSeries> series;
  for (const auto& [process, candidate] : best) {
    IterationSeries of_process = series_of(trace, families, candidate);
    if (marks == Marks::kXlaExecutions) of_process.extent = IterationSeries::Extent::kToNext;
    series.push_back(std::move(of_process));
  }
  leave_out_incomplete(trace, series, launches);
  return series;
}

}  // namespace

std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted, SharedLaunchIndex& launches) {
  for (const Marks marks : {Marks::kIterations, Marks::kXlaExecutions})
    if (std::vector<IterationSeries> series = find_marked(trace, families, wanted, marks, launches); !series.empty()) return series;
  return {};
}

std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted) {
  SharedLaunchIndex launches;
  return find_iterations(trace, families, wanted, launches);
}

std::size_t warm_up_iterations(const Trace& trace, const IterationSeries& series) {
  std::vector<Nanoseconds> durations;
  for (const TimeRange& time : iteration_times(trace, series)) durations.push_back(time.length());
  if (durations.empty()) return 0;
  const Nanoseconds usual = median(durations);
  std::size_t count = 0;
  while (count < durations.size() / 4 && durations[count] > usual + usual / 2) ++count;
  return count;
}

}  // namespace lanescope::analysis
