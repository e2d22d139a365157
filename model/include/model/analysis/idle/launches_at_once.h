// How much of the time of a kernel's launches is left if those at the same time on a GPU count once.
//
// Launches of a kernel run at the same time on several streams, and in several processes that share a GPU. What is won in one of them is then won in the
// others in the same time, so sums of their durations are more than a program can gain.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct KernelOnGpu {
  GpuId gpu = kNone;
  NameId name = 0;
  auto operator<=>(const KernelOnGpu&) const = default;
};

// For each of these kernels: the time that launches of its name by all processes cover on its GPU, as a share of the sum of their durations, from 0 to 1; 1 if
// there are none. Only launches that start within the time count, up to its end. O(kernels of these GPUs · log lanes), O(lanes) for a GPU with one lane.
[[nodiscard]] std::vector<double> shares_at_once(const Trace& trace, std::span<const KernelOnGpu> kernels, TimeRange time = {INT64_MIN, INT64_MAX});

// Says that of the time of a kernel's launches only this share can be won; empty if it is all of it.
[[nodiscard]] Message at_once_text(double share);

}  // namespace lanescope::analysis
