// Describes thread states, samples and call chains as text. Internal to timeline/core.
#pragma once

#include "timeline/core/words/describe.h"

namespace lanescope::timeline {

// For an event of kThreadStates or kProcessors: its state, the processor, and what the thread waited for.
[[nodiscard]] std::vector<Property> describe_thread_state(const Trace& trace, const TrackKey& key, const Event& event, Length length);

// The calls of a chain, innermost first, a line for each. Brief: the innermost calls, including those of Python, and the number of remaining ones.
[[nodiscard]] std::vector<Property> describe_chain(const Trace& trace, CallNodeId chain, Length length);

// The innermost Python function in a chain or, if there is none, the innermost function; "" for an empty chain.
[[nodiscard]] std::string_view caller_name(const Trace& trace, CallNodeId chain) noexcept;

}  // namespace lanescope::timeline
