#include "by_start.h"

namespace lanescope::stats {

std::vector<EventRef> events_by_start(const Selection& selection, std::initializer_list<TrackKind> kinds) {
  const Trace& trace = selection.trace();
  std::vector<std::vector<EventRef>> lanes;
  LaneId last = kNone;
  for (const TrackKind kind : kinds)
    selection.for_each(kind, [&](const Track&, const EventView& event) {
      if (event.ref.lane != last) {
        lanes.emplace_back().reserve(trace.lane(event.ref.lane).size());
        last = event.ref.lane;
      }
      lanes.back().push_back(event.ref);
    });
  return merge_sorted(std::move(lanes), [&](EventRef ref) { return trace.lane(ref.lane).start(ref.index); });
}

}  // namespace lanescope::stats
