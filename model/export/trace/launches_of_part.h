// What a part of a trace has besides the events of its time: the calls that launched its GPU work before it began. Without them nobody could tell
// why a GPU waited in the part, nor to which range its work belongs. Internal to model/export.
#pragma once

#include <optional>

#include "../event_order.h"
#include "model/events/launch_index.h"
#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

struct KeptLaunches {
  EventsByLane events;
  std::optional<Nanoseconds> first;  // start of the first call that launched GPU work of the selection, where that is not all of it
  [[nodiscard]] bool empty() const noexcept { return events.empty(); }
};

// Of each GPU operation of the selection whose launching call is not in it: the call, those within it and the few in front of it that may have made
// the stream wait, the call chain that was taken there, and the push/pop ranges around it. Of rows that the selection leaves out,
// nothing, and nothing that the selection has. None where it has no window, and where it is asked
// to stop. O(GPU work of the window · log n), after the index of launches is made.
[[nodiscard]] KeptLaunches launches_of_part(const Trace& trace, const ExportSelection& selection);
[[nodiscard]] KeptLaunches launches_of_part(const Trace& trace, const ExportSelection& selection, const LaunchIndex& launches);

}  // namespace lanescope::exporters
