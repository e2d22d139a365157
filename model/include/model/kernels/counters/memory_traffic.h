// What a kernel moved between the levels of memory: what a memory chart shows. docs/analysis.md has where the numbers come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/kernels/counters/sections.h"

namespace lanescope::kernels {

// From the kernel outwards; shared memory stands beside the L1 cache.
enum class MemoryPlace : std::uint8_t { kKernel, kL1, kSharedMemory, kL2, kDram };

// What went one way between two places.
struct MemoryWay {
  MemoryPlace from;
  MemoryPlace to;
  std::string_view what;  // "Global loads"
  double amount;          // above 0; bytes, or a plain number
  ValueUnit unit;
  std::optional<double> use;  // of what the way could carry, percent
};
struct MemoryLevel {
  MemoryPlace place;
  std::optional<double> hit_rate;  // of look-ups, percent
  std::optional<double> use;       // of what it could do, percent
};
struct MemoryTraffic {
  std::vector<MemoryWay> ways;      // those on which something moved, from the kernel outwards
  std::vector<MemoryLevel> levels;  // that something came to

  [[nodiscard]] bool empty() const noexcept { return ways.empty(); }
};
[[nodiscard]] MemoryTraffic memory_traffic(const KernelMetrics& metrics, const ProfiledKernel& kernel);

}  // namespace lanescope::kernels
