// The events of one track in the order of time. Internal to model/export.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Events of a trace, by lane: ascending, each once.
using EventsByLane = std::map<LaneId, std::vector<EventIndex>>;

// By start, outer before inner: those of the selection, and more, of which it has none. O(n log lanes).
[[nodiscard]] std::vector<EventRef> events_in_order(const Trace& trace, const Track& track, const ExportSelection& selection, const EventsByLane& more = {});

// Which lane of its track each is, counted from 0: the depth of a range. O(lanes log lanes) to make.
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
