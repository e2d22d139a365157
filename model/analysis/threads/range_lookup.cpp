#include "range_lookup.h"

#include <algorithm>

namespace lanescope::analysis {

RangeLookup::RangeLookup(const Trace& trace, std::uint64_t looks) : trace_(&trace), looks_(looks), tracks_(trace), threads_(trace.threads().size()) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) with_ranges_[track.key.process].insert(track.key.thread);
}

ThreadId RangeLookup::owner(ThreadId thread, Nanoseconds t) {
  if (innermost(thread, t).valid()) return thread;
  const auto candidates = with_ranges_.find(trace_->threads()[thread].process);
  constexpr std::size_t kMostAsked = 256;  // threads that are looked at for each operation
  if (candidates == with_ranges_.end() || candidates->second.size() > kMostAsked) return thread;
  ThreadId found = thread;
  for (const ThreadId other : candidates->second) {
    if (!innermost(other, t).valid()) continue;
    if (found != thread) return thread;  // several threads have ranges
    found = other;
  }
  return found;
}

EventRef RangeLookup::innermost(ThreadId thread, Nanoseconds t) {
  EventRef innermost;
  Nanoseconds begin = 0;
  for (Source& source : sources_of(thread)) {
    const std::optional<EventIndex> range = source.cursor.at(t);
    if (!range || (innermost.valid() && source.cursor.time().begin < begin)) continue;
    innermost = {source.lane, *range};
    begin = source.cursor.time().begin;
  }
  return innermost;
}

std::vector<RangeLookup::Source>& RangeLookup::sources_of(ThreadId thread) {
  std::unique_ptr<std::vector<Source>>& sources = threads_[thread];
  if (!sources) {
    sources = std::make_unique<std::vector<Source>>();
    std::vector<std::span<const LaneId>> domains;  // a lane for each depth
    for (const TrackId track : tracks_.of(thread))
      if (trace_->tracks()[track].key.kind == TrackKind::kNvtxRanges) domains.emplace_back(trace_->tracks()[track].lanes);
    const std::vector<std::size_t> depths = depths_looked_at(domains);
    for (std::size_t i = 0; i < domains.size(); ++i)
      for (const LaneId lane : domains[i].first(depths[i])) sources->push_back({lane, LaneCursor(trace_->lane(lane))});
  }
  return *sources;
}

std::vector<std::size_t> RangeLookup::depths_looked_at(std::span<const std::span<const LaneId>> domains) const {
  const std::uint64_t most = std::max(kLeastLanes, looks_ / std::max<std::uint64_t>(1, trace_->event_count()));
  std::vector<std::size_t> depths(domains.size());
  std::uint64_t lanes = 0;
  for (bool goes_deeper = true; goes_deeper && lanes < most;) {
    goes_deeper = false;
    for (std::size_t i = 0; i < domains.size() && lanes < most; ++i) {
      if (depths[i] == domains[i].size()) continue;
      ++depths[i];
      ++lanes;
      goes_deeper = true;
    }
  }
  return depths;
}

}  // namespace lanescope::analysis
