// What a thread was seen to run over time: the calls of its samples as lanes, each below its caller.
//
// A sample stands for the time until the next sample of the thread if that follows within two sampling periods, else for one period; calls that neighbouring
// samples share are one range. So waits that are shorter than two periods are not visible here, but in the states of the thread. Calls of Python's interpreter
// are left out (samples::CallChoice::kWithoutInterpreter); functions that the compiler inlined have levels of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/samples/shown_calls.h"
#include "model/trace/trace.h"
#include "timeline/core/lanes/gpu_projection.h"
#include "timeline/core/words/describe.h"

namespace lanescope::timeline {

struct StackChart {
  // Ranges have the name of their function, and as detail its CodeKind + 1; the source of each is its first sample.
  ProjectedLane innermost;
  std::vector<ProjectedLane> by_depth;  // the outermost calls first
};

// For a lane of CPU samples. O(samples · depth).
[[nodiscard]] StackChart stack_chart(const Trace& trace, LaneId samples, const samples::ShownCalls& calls);

// The number of levels that the chains of a trace need.
class ChainDepths {
 public:
  explicit ChainDepths(const CallStacks& stacks);  // O(call nodes)
  [[nodiscard]] std::uint32_t of(CallNodeId chain) const noexcept { return depth_[calls_.innermost(chain)]; }

 private:
  samples::ShownCalls calls_;
  std::vector<std::uint32_t> depth_;  // by shown call
};

// One range of a chart, for a tooltip.
[[nodiscard]] std::vector<Property> describe_call(const Trace& trace, LaneId samples, const Event& call, EventIndex first_sample);

}  // namespace lanescope::timeline
