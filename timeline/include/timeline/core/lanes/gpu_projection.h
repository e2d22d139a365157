// NVTX ranges projected on the GPU: from the start of the first operation that was launched within a range to the end of the last.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::timeline {

struct ProjectedLane {
  std::shared_ptr<const Lane> lane;  // of projected ranges, with the names and details of the ranges
  std::vector<EventIndex> sources;   // index of each range in the ranges' lane
};

// Projects the ranges of several NVTX lanes on one GPU; ranges that launched nothing there are left out. Projections may overlap even if the ranges do not:
// then they get several lanes. O(calls of the threads + operations of their processes), on all cores: several lanes of one process cost little more than one of
// them.
[[nodiscard]] std::vector<std::vector<ProjectedLane>> project_on_gpu(const Trace& trace, std::span<const LaneId> ranges, GpuId gpu);

}  // namespace lanescope::timeline
