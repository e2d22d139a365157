// What there is to sample on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/machine_metrics/sampler.h"

namespace lanescope::machine_metrics {

struct SampledDevice {
  std::string kind;                   // "Network", "InfiniBand", "EFA" or "Disks"
  std::string name;                   // "eth0"
  std::vector<std::string> counters;  // "received", "sent"
};

// What a sampler with these settings finds now; empty if there is nothing. Reads files of the kernel.
[[nodiscard]] std::vector<SampledDevice> sampled_devices(const Settings& settings, const std::filesystem::path& root = machine_root());

}  // namespace lanescope::machine_metrics
