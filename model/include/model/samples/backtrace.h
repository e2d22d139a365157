// The call chain of a call: where in the program a CUDA or OS call was made.
#pragma once

#include <span>

#include "model/trace/trace.h"

namespace lanescope::samples {

// For a call of the thread; 0 if its chain was not recorded. O(tracks + log n).
[[nodiscard]] CallNodeId backtrace_of(const Trace& trace, ThreadId thread, const Event& call);
// The same among the backtrace lanes of the call's thread, for callers with many queries.
[[nodiscard]] CallNodeId backtrace_in(const Trace& trace, std::span<const LaneId> lanes, const Event& call);

}  // namespace lanescope::samples
