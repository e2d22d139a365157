// GPU operations with the API calls that enqueued them. Internal to reports and rules.
#pragma once

#include <initializer_list>
#include <map>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::stats {

struct Launch {
  TrackKind kind = TrackKind::kKernels;
  EventRef operation;
  TimeRange operation_time;
  EventRef call;
  TimeRange call_time;
};

// The selected operations of these kinds that have a call in the trace, by thread of the call, each thread's by the call's begin.
[[nodiscard]] std::map<ThreadId, std::vector<Launch>> launches_by_thread(const Selection& selection,
                                                                         std::initializer_list<TrackKind> kinds);

}  // namespace lanescope::stats
