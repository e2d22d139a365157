// GPU operations with the API calls that enqueued them. Internal to reports and rules.
#pragma once

#include <initializer_list>
#include <map>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::stats {

// Only two references, so that millions stay small; their times are in the trace.
struct Launch {
  EventRef operation;
  EventRef call;
};

[[nodiscard]] inline TimeRange time_of(const Trace& trace, EventRef event) noexcept {
  const Lane& lane = trace.lane(event.lane);
  const Nanoseconds begin = lane.start(event.index);
  return {begin, begin + lane.duration(event.index)};
}

// The launches of one thread, by the call's start.
using Launches = std::vector<Launch>;

// The selected operations of these kinds that have a call in the trace, by thread of the call.
[[nodiscard]] std::map<ThreadId, Launches> launches_by_thread(const Selection& selection, std::initializer_list<TrackKind> kinds);

}  // namespace lanescope::stats
