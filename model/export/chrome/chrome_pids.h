// The ids of processes and GPUs in a Chrome trace. Internal to model/export.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::exporters {

// The pids in the file: a process keeps its own if no other process has it, and gets one more for each of its GPUs. Construction is O(n log n) in processes
// and GPUs, even if all have one pid.
class ChromePids {
 public:
  explicit ChromePids(const Trace& trace) {
    for (const Process& process : trace.processes()) hosts_.push_back(free_from(process.pid));
    for (const CudaDevice& device : trace.devices()) {
      const std::uint32_t pid = free_from(device.ordinal);  // as in PyTorch's files
      gpus_.push_back(pid);
      of_process_.try_emplace({device.process, device.gpu}, pid);
      of_gpu_.try_emplace(device.gpu, pid);
    }
    for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
      const auto used = of_gpu_.find(gpu);
      counters_.push_back(used != of_gpu_.end() ? used->second : free_from(trace.gpus()[gpu].ordinal));
    }
  }
  // The pid for counters of the GPU, independent of processes that use it.
  [[nodiscard]] std::uint32_t counters(GpuId gpu) const { return counters_[gpu]; }
  [[nodiscard]] std::uint32_t host(ProcessId process) const { return hosts_[process]; }
  [[nodiscard]] std::uint32_t gpu_of_entry(std::size_t index) const { return gpus_[index]; }  // for an index of devices()
  [[nodiscard]] bool is_used(GpuId gpu) const { return of_gpu_.contains(gpu); }               // by a process
  [[nodiscard]] std::uint32_t gpu(const TrackKey& key) const {
    const auto found = of_process_.find({key.process, key.gpu});
    return found != of_process_.end() ? found->second : 0;
  }

 private:
  // Takes the first free number of pid, pid + 10,000,000, pid + 20,000,000 and so on.
  std::uint32_t free_from(std::uint32_t pid) {
    constexpr std::uint32_t kStep = 10'000'000;
    std::uint32_t free = pid;
    for (auto taken = next_.find(free); taken != next_.end(); taken = next_.find(free)) free = taken->second;
    // Shortens the path for later searches.
    for (auto taken = next_.find(pid); taken != next_.end(); taken = next_.find(pid)) pid = std::exchange(taken->second, free + kStep);
    next_.emplace(free, free + kStep);
    return free;
  }

  std::unordered_map<std::uint32_t, std::uint32_t> next_;  // from a pid that is taken to a later one; all between are taken
  std::vector<std::uint32_t> hosts_;
  std::vector<std::uint32_t> gpus_;                                  // by index of devices()
  std::map<std::pair<ProcessId, GpuId>, std::uint32_t> of_process_;  // the first entry of both
  std::unordered_map<GpuId, std::uint32_t> of_gpu_;                  // the first entry of the GPU
  std::vector<std::uint32_t> counters_;                              // by GPU
};

}  // namespace lanescope::exporters
