// Finds the place in the timeline that an answer is about.
#pragma once

#include <optional>

#include "base/state/selection_state.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

// The event of a table row that gives only a time: an event with exactly this time, else the GPU operation that ends a gap of this time. Not valid if there is
// neither. O(lanes · log n).
[[nodiscard]] EventRef event_at(const Trace& trace, TimeRange time);

// The GPU that is idle for exactly this time, until the operation begins; nothing if it is another time or event. O(lanes of the GPU · log n).
[[nodiscard]] std::optional<GpuId> idle_gpu(const Trace& trace, TimeRange time, EventRef next);

// The operation that ends the gap of the GPU; not valid if none starts then. O(lanes of the GPU · log n).
[[nodiscard]] EventRef operation_behind(const Trace& trace, TimeRange gap, GpuId gpu);

// Shows the time with some room on both sides. Selects the gap that the event ended if `gap` is not empty, else the event if it is valid.
void show_place(SelectionState& state, TimeRange time, EventRef event, TimeRange gap = {});

}  // namespace lanescope::ui
