// The kernels, copies and sets that one process ran on one GPU.
#pragma once

#include <vector>

#include "model/stats/selection.h"

namespace lanescope::analysis {

struct DeviceWork {
  ProcessId process = kNone;
  std::uint32_t context = 0;          // the first of those it used
  std::int64_t device = 0;            // CUDA ordinal in the process
  std::vector<TimeRange> operations;  // by begin
  Nanoseconds last_end = 0;
  [[nodiscard]] TimeRange extent() const noexcept { return {operations.front().begin, last_end}; }
};

// For each process and each GPU that it used; none is empty.
[[nodiscard]] std::vector<DeviceWork> work_by_device(const stats::Selection& selection);

}  // namespace lanescope::analysis
