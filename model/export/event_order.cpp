#include "event_order.h"

#include <algorithm>

namespace lanescope::exporters {

std::vector<EventRef> events_in_order(const Trace& trace, const Track& track, const ExportSelection& selection) {
  const auto earlier = [&](EventRef a, EventRef b) {
    const Nanoseconds start_a = trace.lane(a.lane).start(a.index);
    const Nanoseconds start_b = trace.lane(b.lane).start(b.index);
    if (start_a != start_b) return start_a < start_b;
    return trace.lane(a.lane).duration(a.index) > trace.lane(b.lane).duration(b.index);
  };
  std::vector<EventRef> events;
  for (const LaneId id : track.lanes) {
    const Lane& lane = trace.lane(id);
    const auto [first, last] = selection.window ? lane.overlapping(*selection.window) : std::pair<EventIndex, EventIndex>{0, lane.size()};
    const auto merged = static_cast<std::ptrdiff_t>(events.size());
    for (EventIndex i = first; i < last; ++i) events.push_back({id, i});
    std::inplace_merge(events.begin(), events.begin() + merged, events.end(), earlier);
  }
  return events;
}

}  // namespace lanescope::exporters
