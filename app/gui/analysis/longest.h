// The best example of a row of a comparison in one trace: the longest event of the compared events, or a typical one, and the longest idle time of a cause.
//
// Complexity: O(events of the filter) and O(GPU operations). Threads: any. If asked to stop, a search ends soon and finds nothing.
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
  TimeRange gap;  // of idle time: the gap that has the range and that the event ended; empty for others
};

// Of the loop, if the loop was compared and has such an event: one-time costs were left out of the comparison.
[[nodiscard]] std::optional<Spot> longest_event(const Trace& trace, const EventFilter& filter, Compared compared, const std::stop_token& stop);

// The event whose duration is nearest to `duration`, within the loop as above. For a mean, which hardly any event has exactly.
[[nodiscard]] std::optional<Spot> event_like(const Trace& trace, const EventFilter& filter, Compared compared, Nanoseconds duration,
                                             const std::stop_token& stop);

// Of one cause, by its name; kAllIdle stands for all. Of the loop if there is one, as in longest_event().
[[nodiscard]] std::optional<Spot> longest_idle(const Trace& trace, const std::string& cause, const std::stop_token& stop);

}  // namespace lanescope::ui
