// NVTX ranges on the GPU: from the beginning of the first operation that was launched within a range to the end of the last.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::timeline {

struct ProjectedLane {
  std::shared_ptr<const Lane> lane;  // of projected ranges, with the names and details of the ranges
  std::vector<EventIndex> sources;   // index in the ranges' lane of each
};

// The ranges of each of several NVTX lanes as they are on one GPU; ranges that launched nothing there are left out. Projections may overlap
// though the ranges don't: then they get several lanes. O(calls of the threads + operations of their processes), on all cores: lanes of one
// process cost little more together than one of them.
[[nodiscard]] std::vector<std::vector<ProjectedLane>> project_on_gpu(const Trace& trace, std::span<const LaneId> ranges, GpuId gpu);

}  // namespace lanescope::timeline
