// Activity of a GPU's multiprocessors as reported by the driver's management library (NVML), ten times a second. It is used if the performance
// monitors are not available. Supported from Hopper on (GPM, "GPU performance monitoring").
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "frame_output.h"
#include "samplers/libraries.h"
#include "samplers/nvml_functions.h"

namespace lanescope::gpu_metrics {

// Time between two readings: NVML updates its counts ten times a second.
inline constexpr std::int64_t kGpmInterval = 100'000'000;  // ns

// Reads one GPU. One thread.
class GpmSampler {
 public:
  // Returns null if NVML or the GPU has no such counts. If they exist but this user may not read them, `refusal` is a sentence.
  static std::unique_ptr<GpmSampler> open(std::shared_ptr<const NvmlFunctions> nvml, const GpuDevice& gpu, FrameOutput& output, std::string& refusal);
  ~GpmSampler();
  GpmSampler(const GpmSampler&) = delete;
  GpmSampler& operator=(const GpmSampler&) = delete;

  // Takes one reading, which is valid from the time of the previous one. Does nothing if that was less than kGpmInterval ago. `now`: CLOCK_MONOTONIC
  // ns.
  void read(std::int64_t now);
  void flush();

 private:
  struct State;
  explicit GpmSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::gpu_metrics
