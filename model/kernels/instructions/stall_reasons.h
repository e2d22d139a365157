// Why warps wait. Internal to model/kernels.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/counters/kernel_metrics.h"

namespace lanescope::kernels {

inline constexpr std::string_view kWarpLatency = "smsp__average_warp_latency_per_inst_issued.ratio";

struct StallReason {
  std::string_view name;  // "long_scoreboard"
  std::string_view waits_for;
  std::string_view remedy;
};

// Null for an unknown name.
[[nodiscard]] const StallReason* find_stall_reason(std::string_view name) noexcept;

struct Stall {
  const StallReason* reason;
  double cycles;  // for each issued instruction
};
// The longest first; only stalls that were measured and are not 0.
[[nodiscard]] std::vector<Stall> stalls(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// The names of all reasons.
[[nodiscard]] std::vector<std::string_view> stall_names();
// The metric of a reason: cycles that a warp waits for it, for each issued instruction.
[[nodiscard]] std::string stall_metric(std::string_view reason);

}  // namespace lanescope::kernels
