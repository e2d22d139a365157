// What the sampling of GPUs may cost.
#pragma once

#include <chrono>
#include <cstddef>

#include "byte_queue.h"

namespace lanescope::gpu_metrics {

// How much of the machine the sampling may take beside the programs that are recorded.
struct Effort {
  std::chrono::milliseconds look_every{0};   // between looks at what the hardware has counted; 0: as fits the frequency
  std::chrono::milliseconds nvml_every{50};  // between readings of NVML, whose own values change every 20 to 100 ms; 0: none
  // Threads for the values of one GPU's samples where somebody waits for them; 0: half of the processors, four at most.
  std::size_t evaluators = 0;
  int niceness = 0;  // of all its threads: 19 gives way to everything else
  // At most, of the memory into which the hardware counts. Where the driver has less, half of it, and so on.
  std::size_t hardware_buffer = 4096ull << 20;  // bytes
  // How long counted samples may wait to be fetched where other programs keep all processors busy, or shorter where that memory, or what they are
  // decoded into, has no room for more; 0: as fits what fetches them.
  std::chrono::milliseconds patience{0};
  enum class Fetching { kBest, kByCupti } fetching = Fetching::kBest;
  std::size_t decoded = 4096u << 20;  // bytes at most that samples are decoded into after a pause; less where little memory is free
  QueueLimits waiting;                // of what has been fetched and waits to be evaluated, for each GPU
};

}  // namespace lanescope::gpu_metrics
