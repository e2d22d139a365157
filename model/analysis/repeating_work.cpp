#include "repeating_work.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace lanescope::analysis {
namespace {

constexpr std::size_t kFewest = 5, kMost = 100'000;  // occurrences of a marker
constexpr std::size_t kCandidates = 64;

bool may_repeat(const Track& track, ProcessId process) {
  return track.key.process == process && (track.key.kind == TrackKind::kKernels || track.key.kind == TrackKind::kGraphLaunches);
}

template <typename Visit>
void for_each_work(const Trace& trace, ProcessId process, Visit visit) {
  for (const Track& track : trace.tracks())
    if (may_repeat(track, process))
      for (const LaneId id : track.lanes) {
        const Lane& lane = trace.lane(id);
        for (EventIndex i = 0; i < lane.size(); ++i) visit(lane.name(i), lane, i);
      }
}

struct Candidate {
  NameId name = 0;
  std::vector<Nanoseconds> starts;  // ascending
};

// The names that occur neither seldom nor all the time; of too many, those that occur least.
std::vector<Candidate> candidates_of(const Trace& trace, ProcessId process) {
  std::vector<std::uint32_t> counts(trace.name_count());
  for_each_work(trace, process, [&](NameId name, const Lane&, EventIndex) { ++counts[name]; });
  std::vector<NameId> wanted;
  for (NameId name = 0; name < counts.size(); ++name)
    if (counts[name] >= kFewest && counts[name] <= kMost) wanted.push_back(name);
  std::stable_sort(wanted.begin(), wanted.end(), [&](NameId a, NameId b) { return counts[a] < counts[b]; });
  if (wanted.size() > kCandidates) wanted.resize(kCandidates);
  std::vector<Candidate> candidates;
  std::vector<std::uint32_t> position(counts.size(), kNone);
  for (const NameId name : wanted) {
    position[name] = static_cast<std::uint32_t>(candidates.size());
    candidates.push_back({name, {}});
    candidates.back().starts.reserve(counts[name]);
  }
  for_each_work(trace, process, [&](NameId name, const Lane& lane, EventIndex i) {
    if (position[name] != kNone) candidates[position[name]].starts.push_back(lane.start(i));
  });
  for (Candidate& candidate : candidates) std::sort(candidate.starts.begin(), candidate.starts.end());
  return candidates;
}

// Where the occurrences come at regular times, the first behind warm-up.
std::optional<RepeatingWork> regular(NameId name, const std::vector<Nanoseconds>& starts) {
  std::vector<Nanoseconds> intervals;
  for (std::size_t i = 1; i < starts.size(); ++i) intervals.push_back(starts[i] - starts[i - 1]);
  std::vector<Nanoseconds> sorted = intervals;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const Nanoseconds median = *middle, shortest = median * 2 / 3, longest = median + median / 2;
  std::size_t warm_up = 0;
  while (warm_up < intervals.size() / 4 && intervals[warm_up] > longest) ++warm_up;
  const auto fits = std::count_if(intervals.begin() + static_cast<std::ptrdiff_t>(warm_up), intervals.end(),
                                  [&](Nanoseconds interval) { return interval >= shortest && interval <= longest; });
  if (static_cast<std::size_t>(fits) * 5 < (intervals.size() - warm_up) * 4) return std::nullopt;
  return RepeatingWork{name, starts[warm_up], median};
}

// GPU operations of the process that begin at t or later.
std::size_t operations_from(const Trace& trace, ProcessId process, Nanoseconds t) {
  std::size_t count = 0;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind) && track.key.process == process)
      for (const LaneId id : track.lanes) count += trace.lane(id).size() - trace.lane(id).lower_bound(t);
  return count;
}

}  // namespace

std::optional<RepeatingWork> find_repeating_work(const Trace& trace, ProcessId process) {
  std::optional<RepeatingWork> best;
  for (const auto& [name, starts] : candidates_of(trace, process)) {
    const std::optional<RepeatingWork> found = regular(name, starts);
    if (!found) continue;
    const bool earlier = !best || found->begin < best->begin || (found->begin == best->begin && found->marker < best->marker);
    if (earlier) best = found;
  }
  if (!best) return std::nullopt;
  const std::size_t all = operations_from(trace, process, std::numeric_limits<Nanoseconds>::min());
  return operations_from(trace, process, best->begin) * 5 >= all * 4 ? best : std::nullopt;
}

}  // namespace lanescope::analysis
