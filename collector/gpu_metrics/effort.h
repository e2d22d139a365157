// What the sampling of GPUs may cost.
#pragma once

#include <chrono>
#include <cstddef>

#include "byte_queue.h"

namespace lanescope::gpu_metrics {

// How much of the machine the sampling may use while the recorded programs run.
struct Effort {
  std::chrono::milliseconds look_every{0};   // between looks at what the hardware has counted; 0: chosen by frequency
  std::chrono::milliseconds nvml_every{50};  // between readings of NVML, whose own values change every 20 to 100 ms; 0: none
  // Threads that evaluate the samples of one GPU if somebody waits for them; 0: half of the processors, at most four.
  std::size_t evaluators = 0;
  int niceness = 0;  // of all threads of the sampler: at 19 every other thread goes first
  // Upper limit of the memory into which the hardware counts. If the driver refuses this size, half of it is tried, and so on.
  std::size_t hardware_buffer = 4096ull << 20;  // bytes
  // How long counted samples may wait to be fetched while other programs keep all processors busy; 0: chosen by the source that fetches them. The
  // time is shorter if the hardware's memory, or the memory that samples are decoded into, would become full.
  std::chrono::milliseconds patience{0};
  enum class Fetching { kBest, kByCupti } fetching = Fetching::kBest;
  std::size_t decoded = 4096u << 20;  // most bytes that samples are decoded into after a pause; less if little memory is free
  QueueLimits waiting;                // limits of fetched samples that wait to be evaluated, for each GPU
};

}  // namespace lanescope::gpu_metrics
