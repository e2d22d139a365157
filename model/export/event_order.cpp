#include "event_order.h"

#include <algorithm>

namespace lanescope::exporters {

std::vector<EventRef> events_in_order(const Trace& trace, const Track& track, const ExportSelection& selection, const EventsByLane& more) {
  const auto earlier = [&](EventRef a, EventRef b) {
    const Nanoseconds start_a = trace.lane(a.lane).start(a.index);
    const Nanoseconds start_b = trace.lane(b.lane).start(b.index);
    if (start_a != start_b) return start_a < start_b;
    return trace.lane(a.lane).duration(a.index) > trace.lane(b.lane).duration(b.index);
  };
  std::vector<EventRef> events;
  std::vector<std::ptrdiff_t> ends{0};  // of sorted runs: first one for each lane, then for two, four, ... lanes
  for (const LaneId id : track.lanes) {
    const auto [first, last] = selection.events(trace, id);
    const auto others = more.find(id);
    const std::span<const EventIndex> of_lane = others == more.end() ? std::span<const EventIndex>() : others->second;
    const auto behind = std::lower_bound(of_lane.begin(), of_lane.end(), first);
    for (auto i = of_lane.begin(); i != behind; ++i) events.push_back({id, *i});
    for (EventIndex i = first; i < last; ++i) events.push_back({id, i});
    for (auto i = behind; i != of_lane.end(); ++i) events.push_back({id, *i});
    ends.push_back(static_cast<std::ptrdiff_t>(events.size()));
  }
  while (ends.size() > 2) {
    std::vector<std::ptrdiff_t> merged{0};
    for (std::size_t run = 1; run < ends.size(); run += 2) {
      const std::ptrdiff_t end = run + 1 < ends.size() ? ends[run + 1] : ends[run];
      std::inplace_merge(events.begin() + ends[run - 1], events.begin() + ends[run], events.begin() + end, earlier);
      merged.push_back(end);
    }
    ends = std::move(merged);
  }
  return events;
}

LanePositions::LanePositions(std::span<const Track> tracks) {
  for (const Track& track : tracks)
    for (std::uint32_t position = 0; position < track.lanes.size(); ++position) positions_.emplace_back(track.lanes[position], position);
  std::sort(positions_.begin(), positions_.end());
}

std::uint32_t LanePositions::operator[](LaneId lane) const {
  return std::lower_bound(positions_.begin(), positions_.end(), std::pair(lane, std::uint32_t{0}))->second;
}

}  // namespace lanescope::exporters
