// Columns over events. The table keeps only references to the events. Internal to reports.
#pragma once

#include <memory>
#include <vector>

#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// The events of a table's rows, and the lanes in which their cells are looked up.
struct ListedEvents {
  std::vector<Lane> lanes;
  std::vector<EventRef> events;
  [[nodiscard]] const Lane& lane(std::size_t row) const { return lanes[events[row].lane]; }
};
using SharedEvents = std::shared_ptr<const ListedEvents>;
[[nodiscard]] inline SharedEvents list_events(const Trace& trace, std::vector<EventRef> events) {
  return std::make_shared<const ListedEvents>(ListedEvents{trace.lanes(), std::move(events)});
}

// The value is value(lane, index of the event); `value` owns everything else that it reads.
template <typename Value>
[[nodiscard]] auto of_events(SharedEvents listed, Value value) {
  using Result = decltype(value(listed->lanes.front(), EventIndex{}));
  return Computed<Result>([listed = std::move(listed), value = std::move(value)](std::size_t row) {
    const EventRef event = listed->events[row];
    return value(listed->lanes[event.lane], event.index);
  });
}

// The value is value(track), computed once for each track: it is the same for all events of its lanes.
template <typename Value>
[[nodiscard]] auto of_tracks(SharedEvents listed, const Trace& trace, Value value) {
  using Result = decltype(value(trace.tracks().front()));
  std::vector<Result> by_lane(trace.lanes().size());
  for (const Track& track : trace.tracks())
    for (const LaneId lane : track.lanes) by_lane[lane] = value(track);
  return Computed<Result>([listed = std::move(listed), by_lane = std::move(by_lane)](std::size_t row) { return by_lane[listed->events[row].lane]; });
}

}  // namespace lanescope::stats
