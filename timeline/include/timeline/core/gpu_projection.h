// NVTX ranges on the GPU: from the beginning of the first operation that was launched within a range to the end of the last.
#pragma once

#include <memory>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::timeline {

struct ProjectedLane {
  std::shared_ptr<const Lane> lane;  // of projected ranges, with the names and details of the ranges
  std::vector<EventIndex> sources;   // index in the ranges' lane of each
};

// The ranges of an NVTX lane as they are on one GPU; ranges that launched nothing there are left out. Projections may overlap though the
// ranges don't: then they get several lanes. O(calls of the thread + operations of the process · log).
[[nodiscard]] std::vector<ProjectedLane> project_on_gpu(const Trace& trace, LaneId ranges, GpuId gpu);

}  // namespace lanescope::timeline
