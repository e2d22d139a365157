// Finds events that are related to an event: neighbours, nesting, and launches. Pure functions of a trace.
#pragma once

#include <optional>
#include <vector>

#include "timeline/core/pixels/level_content.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

enum class Neighbour { kPrevious, kNext, kOuter, kInner, kPreviousOfSameName, kNextOfSameName, kPreviousOfFamily, kNextOfFamily };

// The neighbour of an event on its lane; for kOuter and kInner, on its track, the innermost event that contains it, and the first event that it contains. O(log
// n) per lane; by name and by family (name_family) O(n).
[[nodiscard]] std::optional<EventRef> neighbour(const Trace& trace, EventRef event, Neighbour which);

// For GPU work, the call that launched it; for a call, the work that it launched, by start; for a wait for a CUDA event, also the call that recorded the event.
// Empty if there is none.
[[nodiscard]] std::vector<EventRef> correlated_events(const Trace& trace, EventRef event);

// The event that runs at this time, else the event with the nearest start or end. O(lanes · log n).
[[nodiscard]] std::optional<EventRef> nearest_event(const LevelContent& content, Nanoseconds time);

// True if the level shows the event.
[[nodiscard]] bool level_shows(const Trace& trace, const Level& level, EventRef event);

// Finds the same event in another state of the trace: by its track, start and name if late arrivals moved it; in an outline, the first event that it stands
// for. Not valid if it is not there. O(tracks + lanes · log n).
[[nodiscard]] EventRef find_again(const Trace& before, EventRef event, const Trace& after);

}  // namespace lanescope::timeline
