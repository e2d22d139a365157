// Why the warps of GPUs waited, over time. Internal to model/trace.
#pragma once

#include <vector>

#include "model/trace/counter.h"
#include "model/trace/trace.h"

namespace lanescope {

struct StallSeries {
  Counter counter;
  CounterSeries series;
};

// For each reason the share of samples, at the times at which these may have been taken (sample_times.h). Of the first GPUs where there are very many, as fine as a
// millisecond, and as some million values in all. O(samples + kernels in windows).
[[nodiscard]] std::vector<StallSeries> stall_series(const Trace& trace);

}  // namespace lanescope
