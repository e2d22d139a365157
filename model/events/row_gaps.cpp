#include "row_gaps.h"

#include <unordered_map>

#include "sweep_cost.h"

namespace lanescope {

void gaps_before(const EventValues& values, std::span<const EventRef> events, std::span<std::int64_t> numbers) {
  const Trace& trace = values.trace();
  struct OfLane {
    EventIndex first = kNone, last = 0;
    std::vector<std::int64_t> gaps;  // from the first on; empty if each is asked for separately
  };
  std::unordered_map<LaneId, OfLane> lanes;
  std::unordered_map<LaneId, std::uint64_t> rows;  // number of requested events, by the first lane of the row
  for (const EventRef event : events) {
    if (!has_gaps(trace.track_of(event.lane).key.kind)) continue;
    OfLane& lane = lanes[event.lane];
    lane.first = std::min(lane.first, event.index);
    lane.last = std::max(lane.last, event.index);
    ++rows[values.row_of(event.lane).front()];
  }
  for (const auto& [first_lane, wanted] : rows) {
    const std::span<const LaneId> row = values.row_of(first_lane);
    Nanoseconds from = INT64_MAX, until = INT64_MIN;
    for (const LaneId id : row)
      if (const auto lane = lanes.find(id); lane != lanes.end()) {
        from = std::min(from, trace.lane(id).start(lane->second.first));
        until = std::max(until, trace.lane(id).start(lane->second.last));
      }
    std::uint64_t passed = 0;
    for (const LaneId id : row) passed += trace.lane(id).lower_bound(until + 1) - trace.lane(id).lower_bound(from);
    if (passed > swept_for(wanted, row.size())) continue;
    for (const LaneId id : row)
      if (const auto lane = lanes.find(id); lane != lanes.end()) lane->second.gaps.resize(lane->second.last - lane->second.first + std::size_t{1});
    sweep_gaps(trace, row, from, until, [&](LaneId id, EventIndex index, std::int64_t gap) {
      const auto lane = lanes.find(id);
      if (lane != lanes.end() && index >= lane->second.first && index <= lane->second.last) lane->second.gaps[index - lane->second.first] = gap;
    });
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventRef event = events[i];
    const auto lane = lanes.find(event.lane);
    numbers[i] = lane == lanes.end()         ? ColumnReader::kMissing
                 : lane->second.gaps.empty() ? values.number(event, EventColumn::kGapBefore).value_or(ColumnReader::kMissing)
                                             : lane->second.gaps[event.index - lane->second.first];
  }
}

}  // namespace lanescope
