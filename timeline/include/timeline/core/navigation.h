// From one event to the next: neighbours, nesting, and what launched what. Pure functions of a trace.
#pragma once

#include <optional>
#include <vector>

#include "timeline/core/pixels/level_content.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

enum class Neighbour { kPrevious, kNext, kOuter, kInner, kPreviousOfSameName, kNextOfSameName, kPreviousOfFamily, kNextOfFamily };

// The neighbour of an event on its lane; for kOuter and kInner, of its track the innermost event that holds it, and the first that it holds. O(log n) a lane;
// by name and by family (name_family) O(n).
[[nodiscard]] std::optional<EventRef> neighbour(const Trace& trace, EventRef event, Neighbour which);

// The call that launched this GPU work, and for a call the work it launched, by start; for a wait for a CUDA event, also the recording of
// it that was waited for. Empty when there is none.
[[nodiscard]] std::vector<EventRef> correlated_events(const Trace& trace, EventRef event);

// The event that runs at this time, else the one that begins or ends nearest to it. O(lanes · log n).
[[nodiscard]] std::optional<EventRef> nearest_event(const LevelContent& content, Nanoseconds time);

// Whether the event is one that the level shows.
[[nodiscard]] bool level_shows(const Trace& trace, const Level& level, EventRef event);

// The same event in another state of the trace: found by its track, start and name where late arrivals moved it; of an outline, the first
// event that it stands for. None when it is not there. O(tracks + lanes · log n).
[[nodiscard]] EventRef find_again(const Trace& before, EventRef event, const Trace& after);

}  // namespace lanescope::timeline
