// From an answer to the place in the timeline that it is about.
#pragma once

#include <optional>

#include "base/state/selection_state.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

// The event that a row of a table is about of which only the time is known: one that takes exactly this time, else the GPU operation that
// ends a gap of this time. Not valid where there is neither. O(lanes · log n).
[[nodiscard]] EventRef event_at(const Trace& trace, TimeRange time);

// Shows the time with some room on both sides, and selects the event where there is one.
void show_place(SelectionState& state, TimeRange time, EventRef event);

}  // namespace lanescope::ui
