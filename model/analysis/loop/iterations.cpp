#include "iterations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>

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
    // Rounding in an imported file can make a range end after the next one began.
    if (series.extent == IterationSeries::Extent::kRange && !times.empty()) times.back().end = std::min(times.back().end, lane.start(range.index));
    times.push_back({lane.start(range.index), lane.end(range.index)});
  }
  if (series.extent == IterationSeries::Extent::kToNext && !times.empty()) times.pop_back();
  return times;
}

namespace {

// The ranges of one family in one lane, in all lanes of a track, or in all tracks of a process that have the track's domain. Executions that a compiler tries
// out are not counted: they are iterations only if they are asked for.
struct Candidate {
  enum class Lanes : std::uint8_t { kOne, kOfTrack, kOfProcess } lanes = Lanes::kOne;
  LaneId lane = kNone;  // of several, the first one of the track that has most
  FamilyId family = 0;
  std::uint64_t count = 0;
  Nanoseconds total = 0;      // the time of the ranges; for executions, including what they launch
  Nanoseconds lane_span = 0;  // from the lane's first event to its last
};

bool covers_more(const Candidate& a, const Candidate& b) { return a.total != b.total ? a.total > b.total : a.lane < b.lane; }

// Iterations cover at least one part in this many of their lane's span; a family that covers less is a detail.
constexpr Nanoseconds kLeastCoverage = 4;
// Iterations do not occur more often than this: rules keep some data for each.
constexpr std::uint64_t kMostIterations = 4'000'000;

// Ranges that PyTorch marks by itself: parts of a step, which repeat as often.
bool is_part_of_step(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> kParts{"enumerate(DataLoader)", "Optimizer.", "DistributedDataParallel.", "FullyShardedDataParallel.",
                                                   "## Call CompiledFxGraph"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) { return name.starts_with(part); });
}

// The name that PyTorch's profiler gives a step of its schedule; before 2022 it was among the operators.
bool is_profiler_step(std::string_view name) noexcept { return name.starts_with("ProfilerStep"); }

enum class Marks : std::uint8_t {
  kIterations,     // ranges that may be iterations
  kXlaExecutions,  // ranges that may start them
};

// Whole microseconds, in which other programs write times, make adjacent ranges overlap by as much.
constexpr Nanoseconds kRounding = 1'000;

struct OfCandidate {
  std::vector<EventRef> ranges;
  std::size_t inside = 0;  // ranges that lie inside another of them, and are not among them
};

bool starts_before(const Trace& trace, EventRef a, EventRef b) {
  const Nanoseconds start_a = trace.lane(a.lane).start(a.index), start_b = trace.lane(b.lane).start(b.index);
  return start_a != start_b ? start_a < start_b : a < b;
}

// The candidate's ranges by start, without those inside another of them on their thread. `families` knows all names.
OfCandidate ranges_of(const Trace& trace, Families& families, const Candidate& candidate) {
  if (candidate.lanes == Candidate::Lanes::kOfProcess) {
    OfCandidate all;
    const TrackKey& key = trace.track_of(candidate.lane).key;
    for (const TrackId track : trace.tracks_of(key.process, TrackKind::kNvtxRanges)) {
      if (trace.tracks()[track].key.domain != key.domain) continue;
      const OfCandidate of_track =
          ranges_of(trace, families, {.lanes = Candidate::Lanes::kOfTrack, .lane = trace.tracks()[track].lanes.front(), .family = candidate.family});
      all.ranges.insert(all.ranges.end(), of_track.ranges.begin(), of_track.ranges.end());
      all.inside += of_track.inside;
    }
    std::sort(all.ranges.begin(), all.ranges.end(), [&](EventRef a, EventRef b) { return starts_before(trace, a, b); });
    return all;
  }
  const LaneId one[] = {candidate.lane};
  const std::span<const LaneId> lanes = candidate.lanes == Candidate::Lanes::kOne ? std::span<const LaneId>(one) : trace.track_of(candidate.lane).lanes;
  struct Range {
    Nanoseconds start, end;
    EventRef event;
  };
  std::vector<Range> found;
  for (const LaneId id : lanes) {
    const Lane& lane = trace.lane(id);
    for (std::size_t s = 0; s < lane.segment_count(); ++s) {
      const std::shared_ptr<const LaneSegment> segment = lane.segment(s);
      const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
      for (EventIndex i = 0; i < segment->size(); ++i)
        if (families.of_name(segment->name(i)) == candidate.family)
          found.push_back({segment->start(i), segment->start(i) + segment->duration(i), {id, first + i}});
    }
  }
  OfCandidate all;
  std::vector<EventRef>& ranges = all.ranges;
  ranges.reserve(found.size());
  if (lanes.size() == 1) {
    for (const Range& range : found) ranges.push_back(range.event);
    return all;
  }
  // Of ranges that start at the same time the outer one comes first: the one that ends last, or else that of the first lane.
  std::stable_sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  std::optional<Nanoseconds> end;
  for (const Range& range : found) {
    if (end && (range.end <= *end && range.start < *end)) continue;
    if (end && *end - range.start > kRounding) continue;
    ranges.push_back(range.event);
    end = range.end;
  }
  all.inside = found.size() - ranges.size();
  return all;
}

// A family may occur at several nesting levels of a thread, such as steps of which some lie inside a range "warm phase". Then one candidate takes the place
// of those of the lanes, unless it has fewer ranges than one of them, as where an outer range of the same family holds all others. Each takes a
// passage over the track, so only the family `wanted` is joined, or, if it is empty, those that take most time: no other one is chosen.
void join_lanes(const Trace& trace, Families& families, std::string_view wanted, std::vector<Candidate>& of_track) {
  constexpr std::size_t kMostJoined = 16;
  std::stable_sort(of_track.begin(), of_track.end(), [](const Candidate& a, const Candidate& b) { return a.family < b.family; });
  std::map<FamilyId, Nanoseconds> times;
  for (const Candidate& one : of_track) times[one.family] += one.total;
  std::vector<Nanoseconds> longest;
  longest.reserve(times.size());
  for (const auto& [family, time] : times) longest.push_back(time);
  std::sort(longest.begin(), longest.end(), std::greater<>());
  const Nanoseconds least = longest.size() > kMostJoined ? longest[kMostJoined] + 1 : 0;
  const auto is_joined = [&](FamilyId family) { return wanted.empty() ? times[family] >= least : families.text(family) == wanted; };
  std::vector<Candidate> joined;
  for (auto first = of_track.begin(); first != of_track.end();) {
    const auto last = std::find_if(first, of_track.end(), [&](const Candidate& other) { return other.family != first->family; });
    std::uint64_t most = 0, all = 0;
    for (auto one = first; one != last; ++one) most = std::max(most, one->count), all += one->count;
    Candidate together = *first;
    together.lanes = Candidate::Lanes::kOfTrack;
    together.lane = trace.track_of(first->lane).lanes.front();
    together.lane_span = trace.lane(together.lane).extent().length();
    together.count = together.total = 0;
    if (last - first > 1 && all <= kMostIterations && is_joined(first->family))
      for (const EventRef range : ranges_of(trace, families, together).ranges) {
        ++together.count;
        together.total += trace.lane(range.lane).end(range.index) - trace.lane(range.lane).start(range.index);
      }
    if (together.count == most && most < all)  // one level holds the others' ranges
      together.lane_span = std::find_if(first, last, [&](const Candidate& one) { return one.count == most; })->lane_span;
    if (together.count >= most)
      joined.push_back(together);
    else
      joined.insert(joined.end(), first, last);
    first = last;
  }
  of_track = std::move(joined);
}

// A family that several threads of a process have.
struct OfThreads {
  std::vector<std::size_t> members;  // positions of its candidates
  std::set<ThreadId> threads;
  std::uint64_t most = 0, all = 0;  // ranges of one candidate, and of all
  Nanoseconds total = 0;
  TimeRange extent;  // of the threads' ranges of any family
};

// By process, the families of one domain on several threads whose ranges may take turns: they take no longer than there is time.
std::map<ProcessId, std::vector<OfThreads>> families_of_threads(const Trace& trace, const std::vector<Candidate>& candidates) {
  using Key = std::tuple<ProcessId, std::uint32_t, FamilyId>;
  std::vector<std::pair<Key, std::size_t>> by_key;
  by_key.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const TrackKey& key = trace.track_of(candidates[i].lane).key;
    by_key.push_back({{key.process, key.domain, candidates[i].family}, i});
  }
  std::sort(by_key.begin(), by_key.end());
  std::map<ProcessId, std::vector<OfThreads>> found;
  for (auto first = by_key.begin(); first != by_key.end();) {
    OfThreads group;
    auto last = first;
    for (; last != by_key.end() && last->first == first->first; ++last) {
      const Candidate& candidate = candidates[last->second];
      const TimeRange extent = trace.lane(candidate.lane).extent();
      group.extent = group.members.empty() ? extent : TimeRange{std::min(group.extent.begin, extent.begin), std::max(group.extent.end, extent.end)};
      group.members.push_back(last->second);
      group.threads.insert(trace.track_of(candidate.lane).key.thread);
      group.most = std::max(group.most, candidate.count);
      group.all += candidate.count;
      group.total += candidate.total;
    }
    if (group.threads.size() > 1 && group.all <= kMostIterations && group.total <= group.extent.length() + static_cast<Nanoseconds>(group.all) * kRounding)
      found[std::get<0>(first->first)].push_back(std::move(group));
    first = last;
  }
  return found;
}

// Threads may take turns at iterations: a server may hand each request to the next one. Then one candidate takes the place of those of the threads. What runs
// on several threads at once are no iterations of one loop. Each family takes a passage over the process's ranges, so only the family `wanted` is
// joined, or, if it is empty, those that take most time.
void join_threads(const Trace& trace, Families& families, std::string_view wanted, std::vector<Candidate>& candidates) {
  constexpr std::size_t kMostJoined = 4;  // of a process
  std::vector<Candidate> joined;
  std::vector<bool> is_replaced(candidates.size());
  for (auto& [process, groups] : families_of_threads(trace, candidates)) {
    if (!wanted.empty()) std::erase_if(groups, [&](const OfThreads& group) { return families.text(candidates[group.members.front()].family) != wanted; });
    std::stable_sort(groups.begin(), groups.end(), [](const OfThreads& a, const OfThreads& b) { return a.total > b.total; });
    groups.resize(std::min(groups.size(), kMostJoined));
    for (const OfThreads& group : groups) {
      Candidate together = candidates[*std::min_element(group.members.begin(), group.members.end(),
                                                        [&](std::size_t a, std::size_t b) { return covers_more(candidates[a], candidates[b]); })];
      together.lanes = Candidate::Lanes::kOfProcess;
      const std::vector<EventRef> ranges = ranges_of(trace, families, together).ranges;
      const auto overlaps = [&](EventRef range, EventRef next) {
        return trace.lane(range.lane).end(range.index) - trace.lane(next.lane).start(next.index) > kRounding;
      };
      if (ranges.size() < group.most || std::adjacent_find(ranges.begin(), ranges.end(), overlaps) != ranges.end()) continue;
      together.count = ranges.size();
      together.total = 0;
      for (const EventRef range : ranges) together.total += trace.lane(range.lane).end(range.index) - trace.lane(range.lane).start(range.index);
      together.lane_span = group.extent.length();
      joined.push_back(together);
      for (const std::size_t member : group.members) is_replaced[member] = true;
    }
  }
  if (joined.empty()) return;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!is_replaced[i]) joined.push_back(candidates[i]);
  candidates = std::move(joined);
}

// `wanted`: the family that is asked for; empty: any.
std::vector<Candidate> candidates_of(const Trace& trace, Families& families, std::string_view wanted, Marks marks) {
  constexpr FamilyId kNotAsked = kNone, kNotCounted = kNone - 1;
  std::vector<Candidate> candidates;
  std::array<std::vector<FamilyId>, 2> counted;  // of names: the families of those that may be iterations, of operators and of others
  NameMemo<bool> xla(trace, is_of_xla), xla_execution(trace, is_xla_execution);
  NameMemo<bool> communication(trace, is_communication_name), framework(trace, is_part_of_step), profiler_step(trace, is_profiler_step);
  const auto may_count = [&](NameId name, bool operators) {
    if (marks == Marks::kXlaExecutions ? !xla_execution(name) : xla(name)) return false;
    return !communication(name) && !framework(name) && (!operators || profiler_step(name));
  };
  std::vector<std::uint32_t> places;  // in what a lane has, by family
  std::optional<XlaCompilation> compilation;
  if (marks == Marks::kXlaExecutions) compilation.emplace(trace);
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    const std::string_view domain = trace.domain_name(track.key.process, track.key.domain);
    if (is_communication_domain(domain) || domain == kPythonDomainName || domain == kSystemCallDomain || domain == kFileAccessDomain) continue;
    const bool operators = domain == kOperatorDomainName;
    std::vector<FamilyId>& family_of_name = counted[operators ? 1 : 0];
    family_of_name.resize(trace.name_count(), kNotAsked);
    std::vector<Candidate> of_track;
    for (const LaneId id : track.lanes) {
      std::vector<Candidate> in_lane;
      const Lane& lane = trace.lane(id);
      for (std::size_t s = 0; s < lane.segment_count(); ++s) {
        const std::shared_ptr<const LaneSegment> segment = lane.segment(s);
        for (EventIndex i = 0; i < segment->size(); ++i) {
          FamilyId& family = family_of_name[segment->name(i)];
          if (family == kNotAsked) family = may_count(segment->name(i), operators) ? families.of_name(segment->name(i)) : kNotCounted;
          if (family == kNotCounted) continue;
          if (places.size() < families.size()) places.resize(families.size(), kNone);
          if (places[family] == kNone) {
            places[family] = static_cast<std::uint32_t>(in_lane.size());
            in_lane.push_back({.lane = id, .family = family, .lane_span = lane.extent().length()});
          }
          Candidate& candidate = in_lane[places[family]];
          if (compilation && compilation->is_under_way(track.key.process, segment->start(i))) continue;
          ++candidate.count;
          candidate.total += segment->duration(i);
        }
      }
      for (const Candidate& candidate : in_lane) places[candidate.family] = kNone;
      std::sort(in_lane.begin(), in_lane.end(), [](const Candidate& a, const Candidate& b) { return a.family < b.family; });
      if (of_track.empty())
        of_track = std::move(in_lane);  // one lane may have millions
      else
        of_track.insert(of_track.end(), in_lane.begin(), in_lane.end());
    }
    // Executions of XLA stay apart by lane: their GPU time is known by lane.
    if (marks == Marks::kIterations && track.lanes.size() > 1) join_lanes(trace, families, wanted, of_track);
    if (candidates.empty())
      candidates = std::move(of_track);
    else
      candidates.insert(candidates.end(), of_track.begin(), of_track.end());
  }
  if (marks == Marks::kIterations) join_threads(trace, families, wanted, candidates);
  if (compilation && !candidates.empty()) {
    std::set<LaneFamily> executions;
    for (const Candidate& candidate : candidates)
      if (candidate.count > 0) executions.insert({candidate.lane, candidate.family});
    const auto gpu_times = gpu_time_of_xla_executions(trace, families, *compilation, executions);
    for (Candidate& candidate : candidates)
      if (const auto time = gpu_times.find({candidate.lane, candidate.family}); time != gpu_times.end()) candidate.total += time->second;
  }
  return candidates;
}

bool contains_word(std::string_view family, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(family.begin(), family.end(), word.begin(), word.end(), same) != family.end();
}

bool is_of_epochs(std::string_view family) { return contains_word(family, "epoch"); }

bool counts_iterations(std::string_view family) {
  constexpr std::array<std::string_view, 3> kWords{"step", "iter", "batch"};
  return family.find('*') != std::string_view::npos &&
         std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return contains_word(family, word); });
}

// Epochs consist of iterations: of the ranges on their thread that occur twice as often or more, those that are numbered as steps or batches, or else those
// that cover three quarters of the epochs' time. "forward" and "backward" are parts of an iteration. Null if the epochs have none.
const Candidate* iterations_of_epochs(const Trace& trace, const Families& families, std::span<const Candidate* const> candidates, const Candidate& epochs) {
  const Candidate *numbered = nullptr, *longest = nullptr;
  const auto take = [](const Candidate*& best, const Candidate& candidate) {
    if (best == nullptr || covers_more(candidate, *best)) best = &candidate;
  };
  for (const Candidate* const candidate : candidates) {
    const std::string_view family = families.text(candidate->family);
    if (candidate->count < 2 * epochs.count || trace.track_of(candidate->lane).key.thread != trace.track_of(epochs.lane).key.thread || is_of_epochs(family))
      continue;
    if (counts_iterations(family)) take(numbered, *candidate);
    if (candidate->total >= epochs.total / 4 * 3) take(longest, *candidate);
  }
  return numbered != nullptr ? numbered : longest;
}

// The work that executions launch continues after them, so they may cover little time.
FamilyId choose_family(const Trace& trace, const Families& families, const std::vector<Candidate>& candidates, Marks marks) {
  for (const std::uint64_t least : {std::uint64_t{5}, std::uint64_t{3}}) {
    std::vector<const Candidate*> possible;
    for (const Candidate& candidate : candidates)
      if (candidate.count >= least && candidate.count <= kMostIterations &&
          (marks == Marks::kXlaExecutions || candidate.total >= candidate.lane_span / kLeastCoverage))
        possible.push_back(&candidate);
    const auto best = std::min_element(possible.begin(), possible.end(), [](const Candidate* a, const Candidate* b) { return covers_more(*a, *b); });
    if (best == possible.end()) continue;
    const Candidate* const in_epochs = is_of_epochs(families.text((*best)->family)) ? iterations_of_epochs(trace, families, possible, **best) : nullptr;
    return (in_epochs != nullptr ? in_epochs : *best)->family;
  }
  return 0;
}

FamilyId family_named(const std::vector<Candidate>& candidates, const Families& families, std::string_view wanted) {
  const std::string family = name_family(wanted);
  for (const Candidate& candidate : candidates)
    if (families.text(candidate.family) == family) return candidate.family;
  return 0;
}

// True if the recording started in the middle of the process's life.
bool was_attached_to(const Trace& trace, ProcessId process) {
  const std::uint32_t pid = trace.processes()[process].pid;
  if (pid == 0) return false;  // not known; 0 also means that no process was attached to
  const TracePart* const part = part_of_process(trace, process);
  return (part == nullptr ? trace.provenance() : part->provenance).attached_pid == pid;
}

// The time at which the first recorded GPU work of the process was enqueued; only work whose call is recorded counts. If there is no such call, the
// time at which the first work started.
std::optional<Nanoseconds> first_gpu_work(const Trace& trace, ProcessId process, SharedLaunchIndex& launches) {
  std::optional<Nanoseconds> enqueued, begun;
  const auto earliest = [](std::optional<Nanoseconds>& first, Nanoseconds time) { first = std::min(first.value_or(time), time); };
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches}) {
    for (const TrackId track : trace.tracks_of(process, kind)) {
      for (const LaneId id : trace.tracks()[track].lanes) {
        const Lane& lane = trace.lane(id);
        if (lane.size() > 0) earliest(begun, lane.start(0));
        for (EventIndex i = 0; i < lane.size(); ++i) {
          const EventRef launch = launches.find(trace, {id, i});
          if (!launch.valid()) continue;
          earliest(enqueued, trace.lane(launch.lane).start(launch.index));
          break;
        }
      }
    }
  }
  return enqueued ? enqueued : begun;
}

// The part of the recording of a process that was saved; nothing if all of it was.
std::optional<TimeRange> saved_time(const Trace& trace, ProcessId process) {
  const std::optional<SavedPart> saved = saved_part_of(trace, part_of_process(trace, process));
  return saved ? std::optional(saved->time) : std::nullopt;
}

// The time from which on a process enqueued GPU work that a saved part lacks because its GPUs did it after the part: later than the last that it has.
// The end of time if it lacks none.
Nanoseconds first_lacking_work(const Trace& trace, ProcessId process, SharedLaunchIndex& launches) {
  std::optional<Nanoseconds> last;
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
    for (const TrackId track : trace.tracks_of(process, kind))
      for (const LaneId id : trace.tracks()[track].lanes) {
        const Lane& lane = trace.lane(id);
        if (lane.size() == 0) continue;
        const EventRef launch = launches.find(trace, {id, lane.size() - 1});
        if (launch.valid()) last = std::max(last.value_or(0), trace.lane(launch.lane).start(launch.index));
      }
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  if (!last) return first;
  NameMemo<bool> enqueues(trace, enqueues_gpu_work);
  for (const TrackId track : trace.tracks_of(process, TrackKind::kCudaApi)) {
    const Lane& calls = trace.lane(trace.tracks()[track].lanes.front());  // outermost calls
    EventIndex i = calls.lower_bound(*last + 1);
    while (i < calls.size() && !enqueues(calls.name(i))) ++i;
    if (i < calls.size()) first = std::min(first, calls.start(i));
  }
  return first;
}

// The number of iterations at the start and at the end that the recording does not have whole.
struct Incomplete {
  std::size_t first = 0;
  std::size_t last = 0;
};

Incomplete incomplete_iterations(const Trace& trace, const IterationSeries& series, SharedLaunchIndex& launches) {
  Incomplete incomplete;
  const auto start_of = [&](EventRef range) { return trace.lane(range.lane).start(range.index); };
  if (was_attached_to(trace, series.process))
    if (const auto first_work = first_gpu_work(trace, series.process, launches)) {
      const auto whole = std::find_if(series.ranges.begin(), series.ranges.end(), [&](EventRef range) { return start_of(range) >= *first_work; });
      if (whole != series.ranges.end()) incomplete.first = static_cast<std::size_t>(whole - series.ranges.begin());
    }
  const EventRef last = series.ranges.back();
  // A range that only starts an iteration still ends the previous one, even if it is not finished itself.
  const bool ends_itself = series.extent == IterationSeries::Extent::kRange;
  if (ends_itself && trace.nvtx_detail(trace.lane(last.lane).detail(last.index)).finished == Finished::kNo) incomplete.last = 1;
  if (const std::optional<TimeRange> saved = saved_time(trace, series.process)) {
    const std::vector<TimeRange> times = iteration_times(trace, series);
    const Nanoseconds end = std::min(saved->end, first_lacking_work(trace, series.process, launches));
    const auto begins_before = std::count_if(times.begin(), times.end(), [&](const TimeRange& time) { return time.begin < saved->begin; });
    const auto ends_behind = std::count_if(times.begin(), times.end(), [&](const TimeRange& time) { return time.end > end; });
    incomplete.first = std::max(incomplete.first, static_cast<std::size_t>(begins_before));
    incomplete.last = std::max(incomplete.last, static_cast<std::size_t>(ends_behind));
  }
  return incomplete;
}

// Ranks with equally many iterations keep the same ones.
void leave_out_incomplete(const Trace& trace, std::vector<IterationSeries>& all, SharedLaunchIndex& launches) {
  std::map<std::pair<FamilyId, std::size_t>, Incomplete> by_count;
  for (const IterationSeries& series : all) {
    const Incomplete of_series = incomplete_iterations(trace, series, launches);
    Incomplete& of_count = by_count[{series.family, series.ranges.size()}];
    of_count = {std::max(of_count.first, of_series.first), std::max(of_count.last, of_series.last)};
  }
  for (IterationSeries& series : all) {
    const Incomplete& of_count = by_count[{series.family, series.ranges.size()}];
    series.left_out = of_count.first + of_count.last;
    if (series.left_out >= series.ranges.size()) series.left_out = 0;
    if (series.left_out == 0) continue;
    series.ranges.erase(series.ranges.end() - static_cast<std::ptrdiff_t>(of_count.last), series.ranges.end());
    series.ranges.erase(series.ranges.begin(), series.ranges.begin() + static_cast<std::ptrdiff_t>(of_count.first));
  }
  std::erase_if(all, [&](const IterationSeries& series) { return iteration_times(trace, series).empty(); });
}

// True if `a` rather than `b` has the iterations of their family: what occurs once or twice, such as an outer range of the same family, has none.
bool has_rather(const Candidate& a, const Candidate& b) {
  constexpr std::uint64_t kLeast = 3;
  return (a.count >= kLeast) != (b.count >= kLeast) ? a.count >= kLeast : covers_more(a, b);
}

// For each process, the lane or thread with most of the family.
std::map<ProcessId, Candidate> best_of_family(const Trace& trace, const std::vector<Candidate>& candidates, FamilyId family) {
  std::map<ProcessId, Candidate> best;
  for (const Candidate& candidate : candidates) {
    if (candidate.family != family) continue;
    const auto [entry, is_new] = best.try_emplace(trace.track_of(candidate.lane).key.process, candidate);
    if (!is_new && has_rather(candidate, entry->second)) entry->second = candidate;
  }
  return best;
}

std::set<ProcessId> users_of_gpus(const Trace& trace) {
  std::set<ProcessId> users;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind)) users.insert(track.key.process);
  return users;
}

std::vector<Candidate> of_processes(const Trace& trace, const std::vector<Candidate>& candidates, const std::set<ProcessId>& processes) {
  std::vector<Candidate> own;
  for (const Candidate& candidate : candidates)
    if (processes.contains(trace.track_of(candidate.lane).key.process)) own.push_back(candidate);
  return own;
}

// For each of these processes, the lane of the family that is chosen for it alone.
std::map<ProcessId, Candidate> best_of_each(const Trace& trace, const Families& families, const std::vector<Candidate>& candidates,
                                            const std::set<ProcessId>& processes, Marks marks) {
  std::map<ProcessId, std::vector<Candidate>> by_process;
  for (const Candidate& candidate : of_processes(trace, candidates, processes)) by_process[trace.track_of(candidate.lane).key.process].push_back(candidate);
  std::map<ProcessId, Candidate> best;
  for (const auto& [process, own] : by_process)
    if (const FamilyId family = choose_family(trace, families, own, marks); family != 0) best.merge(best_of_family(trace, own, family));
  return best;
}

IterationSeries series_of(const Trace& trace, Families& families, const Candidate& candidate) {
  const TrackKey& key = trace.track_of(candidate.lane).key;
  OfCandidate of_candidate = ranges_of(trace, families, candidate);
  IterationSeries series{key.process, key.thread, candidate.family, std::move(of_candidate.ranges)};
  series.inside = of_candidate.inside;
  return series;
}

// For each process of `best`, how many ranges of the family its other threads have in the same domain.
std::map<ProcessId, std::size_t> count_elsewhere(const Trace& trace, const std::vector<Candidate>& candidates, const std::map<ProcessId, Candidate>& best) {
  std::map<std::pair<ProcessId, ThreadId>, Candidate> of_threads;
  for (const Candidate& candidate : candidates) {
    const TrackKey& key = trace.track_of(candidate.lane).key;
    const auto own = best.find(key.process);
    if (own == best.end() || own->second.family != candidate.family) continue;
    const TrackKey& own_key = trace.track_of(own->second.lane).key;
    if (key.domain != own_key.domain || key.thread == own_key.thread) continue;
    const auto [entry, is_new] = of_threads.try_emplace({key.process, key.thread}, candidate);
    if (!is_new && has_rather(candidate, entry->second)) entry->second = candidate;
  }
  std::map<ProcessId, std::size_t> counts;
  for (const auto& [thread, candidate] : of_threads) counts[thread.first] += candidate.count;
  return counts;
}

std::vector<IterationSeries> series_of_all(const Trace& trace, Families& families, const std::vector<Candidate>& candidates,
                                           const std::map<ProcessId, Candidate>& best, Marks marks, SharedLaunchIndex& launches) {
  std::vector<IterationSeries> series;
  const std::map<ProcessId, std::size_t> elsewhere = count_elsewhere(trace, candidates, best);
  for (const auto& [process, candidate] : best) {
    IterationSeries of_process = series_of(trace, families, candidate);
    if (const auto count = elsewhere.find(process); count != elsewhere.end() && marks == Marks::kIterations) of_process.elsewhere = count->second;
    if (of_process.ranges.empty()) continue;  // the candidate is known by heads, and its events can't be read any more
    if (marks == Marks::kXlaExecutions) of_process.extent = IterationSeries::Extent::kToNext;
    series.push_back(std::move(of_process));
  }
  leave_out_incomplete(trace, series, launches);
  return series;
}

std::size_t slow_at_first(const Trace& trace, const IterationSeries& series) {
  std::vector<Nanoseconds> durations;
  for (const TimeRange& time : iteration_times(trace, series)) durations.push_back(time.length());
  if (durations.empty()) return 0;
  const Nanoseconds usual = median(durations);
  std::size_t count = 0;
  while (count < durations.size() / 4 && durations[count] > usual + usual / 2) ++count;
  return count;
}

// Those ranks step together that have the same family and as many iterations, at the same time.
void set_warm_up(const Trace& trace, std::vector<IterationSeries>& all) {
  const auto begin_of = [&](const IterationSeries* series) { return trace.lane(series->ranges.front().lane).start(series->ranges.front().index); };
  const auto end_of = [&](const IterationSeries* series) { return trace.lane(series->ranges.back().lane).end(series->ranges.back().index); };
  const auto kind_of = [](const IterationSeries* series) { return std::pair(series->family, series->ranges.size()); };
  std::vector<IterationSeries*> order;
  for (IterationSeries& series : all) order.push_back(&series);
  std::sort(order.begin(), order.end(),
            [&](const IterationSeries* a, const IterationSeries* b) { return std::pair(kind_of(a), begin_of(a)) < std::pair(kind_of(b), begin_of(b)); });
  for (auto first = order.begin(); first != order.end();) {
    Nanoseconds end = end_of(*first);
    std::size_t most = 0;
    auto last = first;
    for (; last != order.end() && kind_of(*last) == kind_of(*first) && (last == first || begin_of(*last) < end); ++last) {
      end = std::max(end, end_of(*last));
      most = std::max(most, slow_at_first(trace, **last));
    }
    for (; first != last; ++first) (*first)->warm_up = most;
  }
}

}  // namespace

std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted, SharedLaunchIndex& launches) {
  constexpr std::array kAll{Marks::kIterations, Marks::kXlaExecutions};
  std::map<Marks, std::vector<Candidate>> known;
  const std::string family_wanted = wanted.empty() ? std::string() : name_family(wanted);
  const auto candidates = [&](Marks marks) -> const std::vector<Candidate>& {
    const auto [entry, is_new] = known.try_emplace(marks);
    if (is_new) entry->second = candidates_of(trace, families, family_wanted, marks);
    return entry->second;
  };
  const auto series_of_family = [&](FamilyId family, Marks marks) {
    return family == 0 ? std::vector<IterationSeries>()
                       : series_of_all(trace, families, candidates(marks), best_of_family(trace, candidates(marks), family), marks, launches);
  };
  if (!wanted.empty()) {
    for (const Marks marks : kAll)
      if (auto series = series_of_family(family_named(candidates(marks), families, wanted), marks); !series.empty()) {
        set_warm_up(trace, series);
        return series;
      }
    return {};
  }
  std::vector<IterationSeries> all;
  std::set<ProcessId> without = users_of_gpus(trace);  // for which nothing is found yet
  const auto add = [&](std::vector<IterationSeries> series) {
    for (IterationSeries& of_process : series) {
      without.erase(of_process.process);
      all.push_back(std::move(of_process));
    }
  };
  for (const Marks marks : kAll) {
    if (without.empty()) break;
    if (all.empty()) add(series_of_family(choose_family(trace, families, of_processes(trace, candidates(marks), without), marks), marks));
    if (!all.empty()) add(series_of_all(trace, families, candidates(marks), best_of_each(trace, families, candidates(marks), without, marks), marks, launches));
  }
  for (const Marks marks : kAll)
    if (all.empty()) add(series_of_family(choose_family(trace, families, candidates(marks), marks), marks));
  set_warm_up(trace, all);
  return all;
}

std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted) {
  SharedLaunchIndex launches;
  return find_iterations(trace, families, wanted, launches);
}

}  // namespace lanescope::analysis
