// A plan as the host would write it, but for configurations, which are bytes that nobody understands.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "collector/channel/kernel_counters.h"

namespace lanescope::test {

struct PlannedBytes {
  std::string_view chip;
  std::string_view config;  // 5 bytes
};

inline void write_plan(const std::filesystem::path& folder, const channel::LaunchChoice& choice, const std::vector<PlannedBytes>& sets) {
  channel::CounterPlan plan{channel::kCounterPlanVersion, channel::CounterReplay::kSpread, static_cast<std::uint32_t>(sets.size()), 0, choice};
  std::ofstream file(folder / channel::kCounterPlanFile, std::ios::binary);
  const auto put = [&file](const void* bytes, std::size_t size) { file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size)); };
  put(&plan, sizeof(plan));
  for (const PlannedBytes& each : sets) {
    channel::CounterSet set{};
    std::memcpy(set.chip, each.chip.data(), each.chip.size());
    set.passes = 1;
    set.metrics = 2;
    set.config_bytes = 5;
    set.name_bytes = 8;
    put(&set, sizeof(set));
    put(each.config.data(), 5);
    put("a.b\0c.d\0\0\0\0", 11);
  }
}

}  // namespace lanescope::test
