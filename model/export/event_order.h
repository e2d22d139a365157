// The events of one track in order of time. Internal to model/export.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Events of a trace by lane, ascending without duplicates.
using EventsByLane = std::map<LaneId, std::vector<EventIndex>>;

// By start, outer before inner: the events of the selection and those in `more`, which are not in the selection. O(n log lanes).
[[nodiscard]] std::vector<EventRef> events_in_order(const Trace& trace, const Track& track, const ExportSelection& selection, const EventsByLane& more = {});

// The position of each lane in its track, from 0: the depth of a range. Construction is O(lanes log lanes).
class LanePositions {
 public:
  explicit LanePositions(std::span<const Track> tracks);
  explicit LanePositions(const Track& track) : LanePositions(std::span(&track, 1)) {}
  // Requires: a lane of these tracks. O(log lanes).
  [[nodiscard]] std::uint32_t operator[](LaneId lane) const;

 private:
  std::vector<std::pair<LaneId, std::uint32_t>> positions_;  // by lane
};

}  // namespace lanescope::exporters
