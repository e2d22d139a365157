#include "model/samples/backtrace.h"

namespace lanescope::samples {

CallNodeId backtrace_of(const Trace& trace, ThreadId thread, const Event& call) {
  if (thread == kNone) return 0;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kBacktraces || track.key.thread != thread) continue;
    if (const CallNodeId chain = backtrace_in(trace, track.lanes, call); chain != 0) return chain;
  }
  return 0;
}

CallNodeId backtrace_in(const Trace& trace, std::span<const LaneId> lanes, const Event& call) {
  for (const LaneId id : lanes) {
    const Lane& lane = trace.lane(id);
    // A chain that was recorded at a CUDA call may have a slightly different time, but it has the call's correlation id.
    const EventIndex same = call.correlation == 0 ? lane.size() : lane.find_correlation(call.correlation);
    if (same < lane.size()) return trace.sample_detail(lane.detail(same)).call_node;
    const EventIndex at = lane.lower_bound(call.start);
    if (at < lane.size() && lane.start(at) == call.start && lane.duration(at) == call.duration) return trace.sample_detail(lane.detail(at)).call_node;
  }
  return 0;
}

}  // namespace lanescope::samples
