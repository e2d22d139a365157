#include "analysis/place.h"

namespace lanescope::ui {
namespace {

constexpr Nanoseconds kRoom = 6;              // a part of this many, on each side
constexpr Nanoseconds kShortestView = 2'000;  // ns: less shows no context

}  // namespace

EventRef event_at(const Trace& trace, TimeRange time) {
  EventRef next;
  for (LaneId id = 0; id < trace.lanes().size(); ++id) {
    const Lane& lane = trace.lane(id);
    const EventIndex same = lane.lower_bound(time.begin);
    if (same < lane.size() && lane.start(same) == time.begin && lane.end(same) == time.end) return {id, same};
    if (!is_gpu_work(trace.track_of(id).key.kind)) continue;
    const EventIndex after = lane.lower_bound(time.end);
    if (after < lane.size() && lane.start(after) == time.end) next = {id, after};
  }
  return next;
}

void show_place(SelectionState& state, TimeRange time, EventRef event) {
  if (event.valid()) {
    const Event shown = state.trace()->event(event);
    if (time.empty()) time = {shown.start, shown.end()};
  }
  const Nanoseconds room = std::max(time.length() / kRoom, (kShortestView - time.length()) / 2);
  state.activate(event, TimeRange{time.begin - room, time.end + room});
}

}  // namespace lanescope::ui
