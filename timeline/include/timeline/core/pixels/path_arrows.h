// The arrows that show a path of events, few enough at every zoom that the events below them stay legible.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

inline constexpr std::int32_t kArrowSpacing = 32;  // pixels of the viewport

// A place on a path: an event, and the part of its time in which it is on the path, which may be all of it.
struct PathPlace {
  EventRef event;
  TimeRange time;
  bool operator==(const PathPlace&) const = default;
};

// The place that all of the event is.
[[nodiscard]] PathPlace whole_place(const Trace& trace, EventRef event);

struct PathArrow {
  EventRef cause;
  EventRef effect;
  TimeRange time;  // from where the arrow leaves the cause, to where the effect begins; it may run backward
  bool operator==(const PathArrow&) const = default;
};

// Where an arrow leaves a place: its end, unless what it caused starts before that, as the work of a call may.
[[nodiscard]] Nanoseconds arrow_begin(TimeRange cause, TimeRange effect) noexcept;

// The arrows that cross the viewport. `path`: the last place first. Time is divided into pieces of kArrowSpacing pixels, which keep their places when the view
// is panned: of the arrows between the same two rows that arrive in one piece, the last one stands for all. `row_of`: the row on which a lane is shown; arrows
// to and from lanes without one are left out. O(path · log rows).
[[nodiscard]] std::vector<PathArrow> arrows_of_path(std::span<const PathPlace> path, const Viewport& viewport,
                                                    const std::function<std::optional<std::uint32_t>(LaneId)>& row_of);

}  // namespace lanescope::timeline
