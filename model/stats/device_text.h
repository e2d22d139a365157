// What a GPU is called in reports of our own, whose tables may be of several files. Internal to model/stats.
#pragma once

#include <string>

#include "model/trace/trace.h"

namespace lanescope::stats {

// "NVIDIA H200 (0)"; where several files were read as one trace and more than one has a GPU of that name and number, with its file:
// "rank1.trace: NVIDIA H200 (0)". O(tracks + counters) then, else O(GPUs).
[[nodiscard]] std::string device_text(const Trace& trace, GpuId gpu);

}  // namespace lanescope::stats
