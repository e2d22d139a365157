// What GPU metrics this machine can give, and how to ask for them in a recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::session {

struct GpuMetricsSettings {
  std::string devices;              // "all", "cuda-visible", or numbers as in nvidia-smi, "0,1"; empty: none
  std::string set = "default";      // name of a set of metrics, or a file
  std::uint64_t frequency = 2'000;  // samples a second, 10 to 200,000
  bool operator==(const GpuMetricsSettings&) const = default;
  [[nodiscard]] bool asked_for() const noexcept { return !devices.empty(); }
};

// Returns what lanescope-gpu-metrics prints for these arguments. Takes as long as the driver takes to initialise. Fails if the program can't be started, or
// prints nothing for the time `patience`, because a driver may hang.
Result<std::string> ask_gpu_metrics(const std::vector<std::string>& question, std::chrono::milliseconds patience = std::chrono::seconds(120));

}  // namespace lanescope::session
