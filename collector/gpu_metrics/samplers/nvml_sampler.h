// What the driver's management library (NVML) reports of a GPU to any user: power, temperature, memory in use, clocks and what holds them down,
// utilisation. It is slow (some tens of readings a second) but always available.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frame_output.h"
#include "samplers/libraries.h"
#include "samplers/nvml_functions.h"

namespace lanescope::gpu_metrics {

// Reads one GPU. One thread.
class NvmlSampler {
 public:
  // Null if NVML does not know the GPU.
  static std::unique_ptr<NvmlSampler> open(std::shared_ptr<const NvmlFunctions> nvml, const GpuDevice& gpu, FrameOutput& output);
  ~NvmlSampler();
  NvmlSampler(const NvmlSampler&) = delete;
  NvmlSampler& operator=(const NvmlSampler&) = delete;

  // Takes one reading, which is valid from the time of the previous one to now.
  void read();
  void flush();

 private:
  struct State;
  explicit NvmlSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::gpu_metrics
