// The events of one track in the order of time. Internal to model/export.
#pragma once

#include <vector>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// By start, outer before inner. O(n log lanes).
[[nodiscard]] std::vector<EventRef> events_in_order(const Trace& trace, const Track& track, const ExportSelection& selection);

}  // namespace lanescope::exporters
