// The kernels, copies and sets that one process ran on one GPU.
#pragma once

#include <functional>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::analysis {

struct DeviceWork {
  ProcessId process = kNone;
  std::uint32_t context = 0;                                  // the first context that it used
  std::int64_t device = 0;                                    // CUDA ordinal in the process
  TimeRange extent;                                           // from the first operation's start to the last end
  std::vector<std::vector<stats::Selection::Stretch>> lanes;  // the selected stretches of each lane, in order
};

// The work for each process and each GPU that it used; none is empty. O(lanes), plus the segments without a selected operation before the first and
// after the last.
[[nodiscard]] std::vector<DeviceWork> work_by_device(const stats::Selection& selection);

// Calls visit(operation) for each operation, by start. Some thousand operations of each lane are in memory at once.
void for_each_operation(const stats::Selection& selection, const DeviceWork& device, const std::function<void(TimeRange)>& visit);

}  // namespace lanescope::analysis
