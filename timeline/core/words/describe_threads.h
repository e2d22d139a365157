// What is known of thread states, samples and call chains, in words. Internal to timeline/core.
#pragma once

#include "timeline/core/words/describe.h"

namespace lanescope::timeline {

// Of an event of kThreadStates or kProcessors: its state, where it ran, and what the thread was doing when it waited.
[[nodiscard]] std::vector<Property> describe_thread_state(const Trace& trace, const TrackKey& key, const Event& event, Length length);

// The calls of a chain, innermost first, a line each. Brief: the innermost ones, those of Python among them, and how many more there are.
[[nodiscard]] std::vector<Property> describe_chain(const Trace& trace, CallNodeId chain, Length length);

// The innermost function of Python in a chain or, where there is none, the innermost one; "" of an empty chain.
[[nodiscard]] std::string_view caller_name(const Trace& trace, CallNodeId chain) noexcept;

}  // namespace lanescope::timeline
