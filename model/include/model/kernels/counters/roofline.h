// The roofline of a kernel: its arithmetic operations per second, over its operations for each byte that a memory read or wrote, below the limits of its GPU
// for both (Williams, Waterman, Patterson 2009). docs/analysis.md has the formulas.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/counters/kernel_metrics.h"

namespace lanescope::kernels {

// Additions and multiplications of a precision; a fused multiply-add counts as two. Operations of tensor cores are separate, for formats that the kernel used.
// Half precision is FP16 and BF16 together, because one counter counts both.
struct Ceiling {
  std::string_view precision;  // "FP32", "FP16 and BF16", "TF32 tensor"
  double operations = 0;       // per second, at the clock during the kernel
};
// A memory, as seen by multiprocessors.
struct Roof {
  std::string_view memory;  // "DRAM"
  double bytes = 0;         // per second
};
// Measured performance of a kernel.
struct RooflinePoint {
  Ceiling ceiling;
  Roof roof;
  double operations = 0;  // per second
  double bytes = 0;       // per second

  [[nodiscard]] double intensity() const noexcept { return operations / bytes; }  // operations per byte
  // The operations per second that the GPU could reach at this intensity.
  [[nodiscard]] double attainable() const noexcept { return std::min(ceiling.operations, roof.bytes * intensity()); }
};
struct Roofline {
  std::vector<Ceiling> ceilings;
  std::vector<Roof> roofs;
  std::vector<RooflinePoint> points;  // of precisions with at least 1 % of its arithmetic, for each memory with traffic

  [[nodiscard]] bool empty() const noexcept { return ceilings.empty() || roofs.empty(); }
};
// Contains the parts whose metrics were measured. If the peak of DRAM was not measured, the GPU's specified bandwidth is used.
[[nodiscard]] Roofline roofline(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// The metrics that all its parts need.
[[nodiscard]] std::vector<std::string> roofline_metrics();

}  // namespace lanescope::kernels
