// Reads the CSV output of Nsight Compute: ncu --csv --page raw, from a program or from a report (--import).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/kernels/counters/kernel_metrics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// True if a file that begins with `head` is such a CSV: the page raw, or another page, which can't be read.
[[nodiscard]] bool looks_like_ncu_csv(std::string_view head) noexcept;

struct NcuTable {
  kernels::KernelMetrics metrics;
  std::vector<LeftOutKernel> left_out;  // kernels whose rows lack cells: up to 100 by name, and one entry for all others
};

// Text that a program printed around the table is skipped. Fails with one sentence if the file is no such CSV, contains another page, or lacks units.
[[nodiscard]] Result<NcuTable> read_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress = {});

// Reads the same as a trace. Nsight Compute runs kernels one by one and does not record when they were launched, so the kernels follow one another, each with
// its duration. Their metrics are those of measured launches (kernel_records.h). Percentages that sections show are also counters of the GPU that hold their
// value while the kernel runs.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
