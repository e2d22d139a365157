#include "analysis/place.h"

namespace lanescope::ui {
namespace {

constexpr Nanoseconds kRoom = 6;              // the divisor of the range's length for the room on each side
constexpr Nanoseconds kShortestView = 2'000;  // ns: a shorter view shows no context

TimeRange with_room(TimeRange time) {
  const Nanoseconds room = std::max(time.length() / kRoom, (kShortestView - time.length()) / 2);
  return {time.begin - room, time.end + room};
}

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

void show_place(SelectionState& state, TimeRange time, EventRef event, TimeRange gap) {
  if (!gap.empty() && event.valid()) {
    state.setSelectedEvent({});
    state.selection().selectGap({gap, state.trace()->track_of(event.lane).key.gpu});
    return emit state.activated({}, with_room(time));
  }
  if (event.valid()) {
    const Event shown = state.trace()->event(event);
    if (time.empty()) time = {shown.start, shown.end()};
  } else if (const std::optional<timeline::Selection::Gap> of_another_place = state.selection().gap()) {
    const std::optional<TimeRange> range = state.selectedRange();
    state.setSelectedRange(range == of_another_place->range ? std::nullopt : range);
  }
  state.activate(event, with_room(time));
}

std::optional<GpuId> idle_gpu(const Trace& trace, TimeRange time, EventRef next) {
  if (time.empty() || !next.valid() || trace.event(next).start != time.end) return std::nullopt;
  const TrackKey& key = trace.track_of(next.lane).key;
  if (!is_gpu_work(key.kind)) return std::nullopt;
  bool ends_then = false;
  for (const Track& track : trace.tracks()) {
    if (track.key.gpu != key.gpu || !is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      const EventIndex behind = lane.lower_bound(time.end);
      if (behind == 0) continue;
      if (lane.end(behind - 1) > time.begin) return std::nullopt;
      ends_then = ends_then || lane.end(behind - 1) == time.begin;
    }
  }
  return ends_then ? std::optional(key.gpu) : std::nullopt;
}

EventRef operation_behind(const Trace& trace, TimeRange gap, GpuId gpu) {
  for (const Track& track : trace.tracks()) {
    if (track.key.gpu != gpu || !is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      const EventIndex next = trace.lane(id).lower_bound(gap.end);
      if (next < trace.lane(id).size() && trace.lane(id).start(next) == gap.end) return {id, next};
    }
  }
  return {};
}

}  // namespace lanescope::ui
