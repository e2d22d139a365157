// Data that a kernel moved between the levels of memory, as in a memory chart. docs/analysis.md says where the numbers come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/kernels/counters/sections.h"

namespace lanescope::kernels {

// From the kernel outwards; shared memory is beside the L1 cache.
enum class MemoryPlace : std::uint8_t { kKernel, kL1, kSharedMemory, kL2, kDram };

// Traffic in one direction between two places.
struct MemoryWay {
  MemoryPlace from;
  MemoryPlace to;
  std::string_view what;  // "Global loads"
  double amount;          // above 0; bytes, or a plain number
  ValueUnit unit;
  std::optional<double> use;  // percent of the capacity
};
struct MemoryLevel {
  MemoryPlace place;
  std::optional<double> hit_rate;  // of look-ups, percent
  std::optional<double> use;       // percent of the capacity
};
struct MemoryTraffic {
  std::vector<MemoryWay> ways;      // with traffic, from the kernel outwards
  std::vector<MemoryLevel> levels;  // that received traffic

  [[nodiscard]] bool empty() const noexcept { return ways.empty(); }
};
[[nodiscard]] MemoryTraffic memory_traffic(const KernelMetrics& metrics, const ProfiledKernel& kernel);

}  // namespace lanescope::kernels
