// What the driver's management library (NVML) says of what the multiprocessors of a GPU did, ten times a second: the middle way where the
// performance monitors can't be had. From Hopper on (GPM, "GPU performance monitoring").
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "frame_output.h"
#include "samplers/libraries.h"
#include "samplers/nvml_functions.h"

namespace lanescope::gpu_metrics {

// Between two readings: NVML renews what it counts ten times a second.
inline constexpr std::int64_t kGpmInterval = 100'000'000;  // ns

// Reads one GPU. One thread.
class GpmSampler {
 public:
  // None where NVML or the GPU has no such counts; `refusal` is then a sentence if it has them, but not for this user.
  static std::unique_ptr<GpmSampler> open(std::shared_ptr<const NvmlFunctions> nvml, const GpuDevice& gpu, FrameOutput& output, std::string& refusal);
  ~GpmSampler();
  GpmSampler(const GpmSampler&) = delete;
  GpmSampler& operator=(const GpmSampler&) = delete;

  // One reading, which holds from the time of the one before; nothing where that is less than kGpmInterval ago. CLOCK_MONOTONIC ns.
  void read(std::int64_t now);
  void flush();

 private:
  struct State;
  explicit GpmSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::gpu_metrics
