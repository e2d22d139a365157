// The kernels, copies and sets that one process ran on one GPU.
#pragma once

#include <functional>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::analysis {

struct DeviceWork {
  ProcessId process = kNone;
  std::uint32_t context = 0;                                  // the first of those it used
  std::int64_t device = 0;                                    // CUDA ordinal in the process
  TimeRange extent;                                           // from the first operation's begin to the last end
  std::vector<std::vector<stats::Selection::Stretch>> lanes;  // what of each is selected, in order
};

// For each process and each GPU that it used; none is empty. O(lanes), and segments without a selected operation in front of the first and
// behind the last.
[[nodiscard]] std::vector<DeviceWork> work_by_device(const stats::Selection& selection);

// Calls visit(operation) for each, by begin. Of each lane, some thousand operations are in memory at once.
void for_each_operation(const stats::Selection& selection, const DeviceWork& device, const std::function<void(TimeRange)>& visit);

}  // namespace lanescope::analysis
