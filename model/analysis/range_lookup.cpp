#include "range_lookup.h"

namespace lanescope::analysis {

RangeLookup::RangeLookup(const Trace& trace) : trace_(&trace), tracks_(trace), threads_(trace.threads().size()) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) with_ranges_[track.key.process].insert(track.key.thread);
}

ThreadId RangeLookup::owner(ThreadId thread, Nanoseconds t) {
  if (innermost(thread, t).valid()) return thread;
  const auto candidates = with_ranges_.find(trace_->threads()[thread].process);
  constexpr std::size_t kMostAsked = 256;  // threads, at each operation
  if (candidates == with_ranges_.end() || candidates->second.size() > kMostAsked) return thread;
  ThreadId found = thread;
  for (const ThreadId other : candidates->second) {
    if (!innermost(other, t).valid()) continue;
    if (found != thread) return thread;  // several
    found = other;
  }
  return found;
}

EventRef RangeLookup::innermost(ThreadId thread, Nanoseconds t) {
  EventRef innermost;
  for_each(thread, t, [&](EventRef range) {
    const auto start = [&](EventRef event) { return trace_->lane(event.lane).start(event.index); };
    if (!innermost.valid() || start(range) >= start(innermost)) innermost = range;
  });
  return innermost;
}

std::vector<RangeLookup::Source>& RangeLookup::sources_of(ThreadId thread) {
  std::unique_ptr<std::vector<Source>>& sources = threads_[thread];
  if (!sources) {
    sources = std::make_unique<std::vector<Source>>();
    for (const TrackId track : tracks_.of(thread))
      if (trace_->tracks()[track].key.kind == TrackKind::kNvtxRanges)
        for (const LaneId lane : trace_->tracks()[track].lanes) sources->push_back({lane, LaneCursor(trace_->lane(lane))});
  }
  return *sources;
}

}  // namespace lanescope::analysis
