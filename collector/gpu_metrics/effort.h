// What the sampling of GPUs may cost.
#pragma once

#include <chrono>
#include <cstddef>

namespace lanescope::gpu_metrics {

// How much of the machine the sampling may take beside the programs that are recorded.
struct Effort {
  std::chrono::milliseconds look_every{100};  // between looks at what the hardware has counted, or fewer where it counts much
  std::chrono::milliseconds nvml_every{50};   // between readings of NVML, whose own values change every 20 to 100 ms; 0: none
  // Threads for the values of one GPU's samples where one falls behind; 0: half of the processors, four at most.
  std::size_t evaluators = 0;
  int niceness = 0;  // of all its threads: 19 gives way to everything else
};

}  // namespace lanescope::gpu_metrics
