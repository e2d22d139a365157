#include "model/export/selection.h"

#include <algorithm>

namespace lanescope {

bool ExportSelection::takes(LaneId lane) const { return !rows || std::binary_search(rows->lanes.begin(), rows->lanes.end(), lane); }

std::pair<EventIndex, EventIndex> ExportSelection::events(const Trace& trace, LaneId lane) const {
  if (!takes(lane) || stop.stop_requested()) return {0, 0};
  const Lane& events = trace.lane(lane);
  return window ? events.overlapping(*window) : std::pair<EventIndex, EventIndex>{0, events.size()};
}

std::uint64_t ExportSelection::event_count(const Trace& trace) const {
  std::uint64_t count = 0;
  for (LaneId lane = 0; lane < trace.lanes().size(); ++lane) {
    const auto [first, end] = events(trace, lane);
    count += end - first;
  }
  return count;
}

std::pair<std::size_t, std::size_t> ExportSelection::values(const Trace& trace, CounterId counter) const {
  const bool is_taken = !rows || std::binary_search(rows->counters.begin(), rows->counters.end(), counter);
  if (!is_taken || stop.stop_requested()) return {0, 0};
  const CounterSeries& series = trace.counter_series(counter);
  return window ? series.overlapping(*window) : std::pair<std::size_t, std::size_t>{0, series.size()};
}

Error stopped_export() { return {"The export was stopped.", ErrorKind::kFailure}; }

}  // namespace lanescope
