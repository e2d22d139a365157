// The call chain of a call: where in the program a CUDA or OS call came from.
#pragma once

#include <span>

#include "model/trace/trace.h"

namespace lanescope::samples {

// Of a call of the thread; 0 where its chain was not taken. O(tracks + log n).
[[nodiscard]] CallNodeId backtrace_of(const Trace& trace, ThreadId thread, const Event& call);
// The same among the lanes of backtraces of the call's thread, for who asks for many.
[[nodiscard]] CallNodeId backtrace_in(const Trace& trace, std::span<const LaneId> lanes, const Event& call);

}  // namespace lanescope::samples
