#include "model/samples/thread_samples.h"

namespace lanescope::samples {

ThreadSamples::ThreadSamples(const Trace& trace) : trace_(trace), lanes_(trace.threads().size()) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kCpuSamples && track.key.thread != kNone) {
      lanes_[track.key.thread].insert(lanes_[track.key.thread].end(), track.lanes.begin(), track.lanes.end());
      empty_ = false;
    }
}

void ThreadSamples::count(ThreadId thread, TimeRange window, ChainCounts& chains) const {
  for (const LaneId id : lanes_[thread]) {
    const Lane& lane = trace_.lane(id);
    for (EventIndex i = lane.lower_bound(window.begin); i < lane.size() && lane.start(i) < window.end; ++i)
      ++chains[trace_.sample_detail(lane.detail(i)).call_node];
  }
}

}  // namespace lanescope::samples
