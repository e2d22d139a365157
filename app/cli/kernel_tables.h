// What `lanescope kernels` says of measured kernels: verdicts, sections, raw values; for people and as tables.
#pragma once

#include <string>
#include <vector>

#include "model/kernels/kernel_metrics.h"
#include "model/kernels/recorded_metrics.h"
#include "model/stats/table.h"

namespace lanescope::cli {

// Measured kernels, and how much each weighs.
struct MeasuredKernels {
  kernels::KernelMetrics metrics;
  std::vector<kernels::Measurement> measurements;  // empty where that is not known, as of Nsight Compute's files
  std::vector<kernels::LeftOutKernel> left_out;

  // Time of all launches of its kind, which is what a gain in one is worth; of it alone where nothing of others is known.
  [[nodiscard]] Nanoseconds weight(std::size_t kernel) const;
  // Of each kind of launch one, that of the median duration, by weight: where several were measured, they say the same.
  [[nodiscard]] std::vector<std::size_t> one_of_each() const;
};

// Each cause with what it could win at most, the largest first.
[[nodiscard]] stats::Table verdict_table(const MeasuredKernels& kernels);
// Of these sections, or of all where one is "all"; of every kernel, by weight.
[[nodiscard]] stats::Table section_table(const MeasuredKernels& kernels, const std::vector<std::string>& sections);
// All values.
[[nodiscard]] stats::Table raw_table(const MeasuredKernels& kernels);
// To standard output: each kernel with what bounds it and what would help.
void print_verdicts(const MeasuredKernels& kernels);

}  // namespace lanescope::cli
