// What a GPU is called in reports of our own, whose tables may be of several files. Internal to model/stats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/trace/combining/parts.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// "NVIDIA H200 (0)"; where several files were read as one trace and more than one has a GPU of that name and number, with its file:
// "rank1.trace: NVIDIA H200 (0)". The trace must outlive it.
class DeviceTexts {
 public:
  explicit DeviceTexts(const Trace& trace);  // O(GPUs · log GPUs), and O(tracks + counters) of several files
  // Requires: the trace has it. O(log GPUs).
  [[nodiscard]] std::string of(GpuId gpu) const;

 private:
  const Trace& trace_;
  PartsOfGpus parts_;
  std::map<std::pair<std::string_view, std::uint32_t>, std::size_t> gpus_;  // of a name and number: how many
};

}  // namespace lanescope::stats
