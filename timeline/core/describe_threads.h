// What is known of thread states, samples and call chains, in words. Internal to timeline/core.
#pragma once

#include "timeline/core/describe.h"

namespace lanescope::timeline {

// Of an event of kThreadStates or kProcessors: its state, where it ran, and what the thread was doing when it waited.
[[nodiscard]] std::vector<Property> describe_thread_state(const Trace& trace, const TrackKey& key, const Event& event);

// The innermost calls of a chain, a line each, and how many more there are.
[[nodiscard]] std::vector<Property> describe_chain(const Trace& trace, CallNodeId chain);

// The call chain that was taken at this call of the thread; 0 where none was. O(tracks + log n).
[[nodiscard]] CallNodeId backtrace_of(const Trace& trace, ThreadId thread, const Event& call);

}  // namespace lanescope::timeline
