// The CUDA device number that a process gives a GPU, for callers that ask for many rows: O(log devices) instead of O(devices).
#pragma once

#include <map>

#include "model/trace/trace.h"

namespace lanescope::stats {

class DeviceOrdinals {
 public:
  explicit DeviceOrdinals(const Trace& trace) : trace_(trace) {
    for (const CudaDevice& device : trace.devices()) ordinals_.try_emplace({device.process, device.gpu}, device.ordinal);
  }
  // The number that the process gives it; the machine's number if the process is not known to use it.
  [[nodiscard]] std::int64_t operator()(ProcessId process, GpuId gpu) const {
    if (const auto found = ordinals_.find({process, gpu}); found != ordinals_.end()) return found->second;
    return device_ordinal(trace_, process, gpu);
  }

 private:
  const Trace& trace_;
  std::map<std::pair<ProcessId, GpuId>, std::uint32_t> ordinals_;
};

}  // namespace lanescope::stats
