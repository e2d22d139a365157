// Texts of properties that all events of a track share. Internal to model/events.
#pragma once

#include <string>
#include <vector>

#include "model/events/pivot_column.h"
#include "model/trace/trace.h"

namespace lanescope {

// True if the column has the same value for all events of a track.
[[nodiscard]] bool is_of_track(PivotColumn column) noexcept;

// One text for each track, as in ColumnValue. Requires: is_of_track(column). O(tracks · log tracks).
[[nodiscard]] std::vector<std::string> track_texts(const Trace& trace, PivotColumn column);

}  // namespace lanescope
