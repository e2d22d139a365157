// What processes and GPUs are called in a Chrome trace. Internal to model/export.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::exporters {

// The pids in the file: a process has its own where no other has it, and one more for each of its GPUs.
class ChromePids {
 public:
  explicit ChromePids(const Trace& trace) : trace_(trace) {
    constexpr std::uint32_t kStep = 10'000'000;
    for (const Process& process : trace.processes()) {
      std::uint32_t pid = process.pid;
      while (!taken_.insert(pid).second) pid += kStep;
      hosts_.push_back(pid);
    }
    for (const CudaDevice& device : trace.devices()) {
      std::uint32_t pid = device.ordinal;  // as PyTorch has it
      while (!taken_.insert(pid).second) pid += kStep;
      gpus_.push_back(pid);
    }
    for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
      const auto used = std::find_if(trace.devices().begin(), trace.devices().end(), [gpu](const CudaDevice& d) { return d.gpu == gpu; });
      std::uint32_t pid = trace.gpus()[gpu].ordinal;
      if (used != trace.devices().end())
        pid = gpus_[static_cast<std::size_t>(used - trace.devices().begin())];
      else
        while (!taken_.insert(pid).second) pid += kStep;
      counters_.push_back(pid);
    }
  }
  // For counters of the GPU, whichever process uses it.
  [[nodiscard]] std::uint32_t counters(GpuId gpu) const { return counters_[gpu]; }
  [[nodiscard]] std::uint32_t host(ProcessId process) const { return hosts_[process]; }
  [[nodiscard]] std::uint32_t gpu_of_entry(std::size_t index) const { return gpus_[index]; }  // of an entry of devices()
  [[nodiscard]] std::uint32_t gpu(const TrackKey& key) const {
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      if (trace_.devices()[i].process == key.process && trace_.devices()[i].gpu == key.gpu) return gpus_[i];
    return 0;
  }

 private:
  const Trace& trace_;
  std::set<std::uint32_t> taken_;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::uint32_t> gpus_;      // by entry of devices()
  std::vector<std::uint32_t> counters_;  // by GPU
};

}  // namespace lanescope::exporters
