// The roofline of a kernel: the arithmetic that it did in a second, over how much of it it did for each byte that a memory gave or took,
// below what its GPU can do of both (Williams, Waterman, Patterson 2009). docs/analysis.md has the formulas.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/counters/kernel_metrics.h"

namespace lanescope::kernels {

// Additions and multiplications of a precision; a fused multiply-add is two. Those of tensor cores stand by themselves, of formats in which the
// kernel did some. Half precision is FP16 and BF16 together, which one counter counts.
struct Ceiling {
  std::string_view precision;  // "FP32", "FP16 and BF16", "TF32 tensor"
  double operations = 0;       // a second, at the clock that the kernel had
};
// A memory, as multiprocessors see it.
struct Roof {
  std::string_view memory;  // "DRAM"
  double bytes = 0;         // a second
};
// What a kernel did.
struct RooflinePoint {
  Ceiling ceiling;
  Roof roof;
  double operations = 0;  // a second
  double bytes = 0;       // a second

  [[nodiscard]] double intensity() const noexcept { return operations / bytes; }  // operations for a byte
  // What the GPU could do at this intensity.
  [[nodiscard]] double attainable() const noexcept { return std::min(ceiling.operations, roof.bytes * intensity()); }
};
struct Roofline {
  std::vector<Ceiling> ceilings;
  std::vector<Roof> roofs;
  std::vector<RooflinePoint> points;  // of precisions of which it did one in a hundred of its arithmetic or more, with each memory that moved something

  [[nodiscard]] bool empty() const noexcept { return ceilings.empty() || roofs.empty(); }
};
// With the parts whose metrics were measured. Where the peak of DRAM was not, it is what the GPU is said to have.
[[nodiscard]] Roofline roofline(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// What all of its parts take, to be measured.
[[nodiscard]] std::vector<std::string> roofline_metrics();

}  // namespace lanescope::kernels
