// Where a row of a comparison shows best in a trace by itself: the longest event of what was compared, or one that is like all of them, and the longest
// idle time of a cause.
//
// Complexity: O(events of the filter) and O(GPU operations). Threads: any. One that is asked to stop ends soon, and finds nothing.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "model/events/event_query.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

inline constexpr std::string_view kAllIdle = "GPU idle";  // the item of all causes

enum class Compared { kWholeTraces, kIterations };

struct Spot {
  TimeRange range;
  EventRef event;
};

// Of the loop where that is what was compared, and has such an event: what is paid once was left out.
[[nodiscard]] std::optional<Spot> longest_event(const Trace& trace, const EventFilter& filter, Compared compared, const std::stop_token& stop);

// The event whose duration is nearest to this one, of the loop as above: of a mean, which hardly any has.
[[nodiscard]] std::optional<Spot> event_like(const Trace& trace, const EventFilter& filter, Compared compared, Nanoseconds duration,
                                             const std::stop_token& stop);

// Of one cause, by its name; of kAllIdle, of all. Of the loop where there is one, as in longest_event().
[[nodiscard]] std::optional<Spot> longest_idle(const Trace& trace, const std::string& cause, const std::stop_token& stop);

}  // namespace lanescope::ui
