// Events that a part of a trace needs in addition to those of its time: earlier calls that launched its GPU work. Without them, the reason why a GPU waited in
// the part, and the ranges of its work, would be unknown. Internal to model/export.
#pragma once

#include <optional>

#include "../event_order.h"
#include "model/events/launch_index.h"
#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

struct KeptLaunches {
  EventsByLane events;
  std::optional<Nanoseconds> first;  // start of the first call that launched selected GPU work; set if the selection is not the whole trace
  [[nodiscard]] bool empty() const noexcept { return events.empty(); }
};

// For each selected GPU operation whose launching call is not selected: the call, the calls within it, a few preceding calls that may have made the stream
// wait, the call chain recorded there, and the push/pop ranges around it. Contains no selected events, and no events of rows that are not selected. Empty if
// the selection has no window, and after a stop request. O(GPU work of the window · log n), after the index of launches is made.
[[nodiscard]] KeptLaunches launches_of_part(const Trace& trace, const ExportSelection& selection);
[[nodiscard]] KeptLaunches launches_of_part(const Trace& trace, const ExportSelection& selection, const LaunchIndex& launches);

// The part that a file of this selection is; nothing if the selection covers the whole scope of the trace. A part of a part lies within both. If the trace has
// nothing in the selected time, the part is that time.
[[nodiscard]] std::optional<SavedPart> saved_part(const Trace& trace, const ExportSelection& selection, const KeptLaunches& launches);

}  // namespace lanescope::exporters
