#include "lane_merge.h"

namespace lanescope::exporters {

LaneMerge::LaneMerge(const Trace& trace, std::span<const LaneId> lanes, const ExportSelection& selection) : trace_(&trace) {
  for (const LaneId id : lanes) {
    const auto [first, last] = selection.events(trace, id);
    if (first < last) heads_.push(head({id, first}, last));
  }
}

LaneMerge::Head LaneMerge::head(EventRef event, EventIndex end) const {
  const Lane& lane = trace_->lane(event.lane);
  return {lane.start(event.index), lane.duration(event.index), event, end};
}

EventRef LaneMerge::next() {
  const Head first = heads_.top();
  heads_.pop();
  if (first.event.index + 1 < first.end) heads_.push(head({first.event.lane, first.event.index + 1}, first.end));
  return first.event;
}

}  // namespace lanescope::exporters
