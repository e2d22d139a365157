// The name of a GPU in our own reports, whose tables may be made from several files. Internal to model/stats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/trace/combining/parts.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// "NVIDIA H200 (0)". If several files were read as one trace, and more than one has a GPU of that name and number, with its file: "rank1.trace: NVIDIA
// H200 (0)". The trace must outlive it.
class DeviceTexts {
 public:
  explicit DeviceTexts(const Trace& trace);  // O(GPUs · log GPUs), plus O(tracks + counters) for several files
  // Requires: the trace has this GPU. O(log GPUs).
  [[nodiscard]] std::string of(GpuId gpu) const;

 private:
  const Trace& trace_;
  PartsOfGpus parts_;
  std::map<std::pair<std::string_view, std::uint32_t>, std::size_t> gpus_;  // number of GPUs with a name and number
};

}  // namespace lanescope::stats
