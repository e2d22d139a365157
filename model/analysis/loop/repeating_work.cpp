#include "repeating_work.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "model/trace/median.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::analysis {
namespace {

constexpr std::size_t kFewest = 5, kMost = 100'000;  // occurrences of a marker
constexpr std::size_t kCandidates = 64;

constexpr std::array kMayRepeat{TrackKind::kKernels, TrackKind::kGraphLaunches};

template <typename Visit>
void for_each_lane(const Trace& trace, ProcessId process, Visit visit) {
  for (const TrackKind kind : kMayRepeat)
    for (const TrackId track : trace.tracks_of(process, kind))
      for (const LaneId id : trace.tracks()[track].lanes) visit(id, trace.lane(id));
}

// How many events have each name, by what heads of segments say where they do.
std::vector<std::uint32_t> count_names(const Trace& trace, ProcessId process) {
  std::vector<std::uint32_t> counts(trace.name_count());
  for_each_lane(trace, process, [&](LaneId, const Lane& lane) {
    const DemandedSegments* const demanded = demanded_segments(lane);
    for (std::size_t s = 0; s < lane.segment_count(); ++s) {
      if (demanded != nullptr && !demanded->bounds()[s].names.empty()) {
        for (const NameTime& name : demanded->bounds()[s].names) counts[name.name] += name.count;
        continue;
      }
      const std::shared_ptr<const LaneSegment> segment = lane.segment(s);
      for (EventIndex i = 0; i < segment->size(); ++i) ++counts[segment->name(i)];
    }
  });
  return counts;
}

struct Occurrence {
  Nanoseconds start = 0;
  EventRef event;
};
struct Candidate {
  NameId name = 0;
  std::vector<Occurrence> occurrences;  // by start
};

// The names that occur neither rarely nor all the time; if there are too many, the rarest of them.
std::vector<Candidate> candidates_of(const Trace& trace, ProcessId process) {
  const std::vector<std::uint32_t> counts = count_names(trace, process);
  std::vector<NameId> wanted;
  for (NameId name = 0; name < counts.size(); ++name)
    if (counts[name] >= kFewest && counts[name] <= kMost) wanted.push_back(name);
  // If counts are equal, by name: the ids of names differ between recordings.
  const std::size_t kept = std::min(wanted.size(), kCandidates);
  std::partial_sort(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(kept), wanted.end(),
                    [&](NameId a, NameId b) { return counts[a] != counts[b] ? counts[a] < counts[b] : trace.name(a) < trace.name(b); });
  wanted.resize(kept);
  std::vector<Candidate> candidates;
  std::vector<std::uint32_t> position(counts.size(), kNone);
  for (const NameId name : wanted) {
    position[name] = static_cast<std::uint32_t>(candidates.size());
    candidates.push_back({name, {}});
    candidates.back().occurrences.reserve(counts[name]);
  }
  const auto is_wanted = [&](NameId name) { return position[name] != kNone; };
  for_each_lane(trace, process, [&](LaneId id, const Lane& lane) {
    for_each_named(lane, is_wanted, [&](EventIndex i) { candidates[position[lane.name(i)]].occurrences.push_back({lane.start(i), {id, i}}); });
  });
  for (Candidate& candidate : candidates)
    std::sort(candidate.occurrences.begin(), candidate.occurrences.end(),
              [](const Occurrence& a, const Occurrence& b) { return a.start != b.start ? a.start < b.start : a.event < b.event; });
  return candidates;
}

// Returns the repeating work if the occurrences come at regular times.
std::optional<RepeatingWork> regular(const Candidate& candidate) {
  const std::vector<Occurrence>& occurrences = candidate.occurrences;
  std::vector<Nanoseconds> intervals;
  for (std::size_t i = 1; i < occurrences.size(); ++i) intervals.push_back(occurrences[i].start - occurrences[i - 1].start);
  const Nanoseconds usual = median(intervals), shortest = usual * 2 / 3, longest = usual + usual / 2;
  RepeatingWork work;
  work.marker = candidate.name;
  while (work.warm_up < intervals.size() / 4 && intervals[work.warm_up] > longest) ++work.warm_up;
  const auto fits = std::count_if(intervals.begin() + static_cast<std::ptrdiff_t>(work.warm_up), intervals.end(),
                                  [&](Nanoseconds interval) { return interval >= shortest && interval <= longest; });
  if (static_cast<std::size_t>(fits) * 5 < (intervals.size() - work.warm_up) * 4) return std::nullopt;
  work.begin = occurrences[work.warm_up].start;
  for (const Occurrence& occurrence : occurrences) work.occurrences.push_back(occurrence.event);
  return work;
}

constexpr Nanoseconds kEver = std::numeric_limits<Nanoseconds>::max();

// GPU work of a process.
struct Amount {
  std::size_t operations = 0;
  Nanoseconds time = 0;  // concurrent streams count separately
  Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
};

// The work that starts within the time.
Amount work_within(const Trace& trace, ProcessId process, TimeRange range) {
  Amount amount;
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
    for (const TrackId track : trace.tracks_of(process, kind))
      for (const LaneId id : trace.tracks()[track].lanes) {
        const Lane& lane = trace.lane(id);
        const EventIndex first = lane.lower_bound(range.begin), last = lane.lower_bound(range.end);
        amount.operations += last - first;
        amount.time += lane.busy_before(range.end) - lane.busy_before(range.begin);
        if (last > first) amount.end = std::max(amount.end, lane.end(last - 1));
      }
  return amount;
}

// True if four fifths of the work come after the first occurrence, by number or by time: setup may launch as much as a short run, but takes hardly any
// time.
bool has_setup_in_front(const Amount& all, const Amount& behind) { return behind.operations * 5 >= all.operations * 4 || behind.time / 4 >= all.time / 5; }

// True if the occurrences spread over a tenth of the work after the first one, measured by the time that the GPU works or by elapsed time. Occurrences
// in a burst, such as a setup that fills many tensors, do not.
bool spreads(const Trace& trace, ProcessId process, const RepeatingWork& work, const Amount& behind) {
  const EventRef last = work.occurrences.back();
  const TimeRange span{work.begin, trace.lane(last.lane).start(last.index)};
  return span.length() >= (behind.end - work.begin) / 10 || work_within(trace, process, span).time >= behind.time / 10;
}

}  // namespace

std::vector<RepeatingWork> find_repeating_work(const Trace& trace, ProcessId process) {
  std::vector<RepeatingWork> found;
  if (std::all_of(kMayRepeat.begin(), kMayRepeat.end(), [&](TrackKind kind) { return trace.tracks_of(process, kind).empty(); })) return found;
  const Amount all = work_within(trace, process, {std::numeric_limits<Nanoseconds>::min(), kEver});
  for (const Candidate& candidate : candidates_of(trace, process)) {
    std::optional<RepeatingWork> work = regular(candidate);
    if (!work) continue;
    const Amount behind = work_within(trace, process, {work->begin, kEver});
    if (has_setup_in_front(all, behind) && spreads(trace, process, *work, behind)) found.push_back(*std::move(work));
  }
  std::stable_sort(found.begin(), found.end(), [](const RepeatingWork& a, const RepeatingWork& b) { return a.begin < b.begin; });
  return found;
}

}  // namespace lanescope::analysis
