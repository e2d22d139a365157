// Reads what Nsight Compute prints as CSV: ncu --csv --page raw, from a program or from a report (--import).
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

// Whether a file that begins so is such a CSV: of the page raw, or of another one, which can't be read.
[[nodiscard]] bool looks_like_ncu_csv(std::string_view head) noexcept;

struct NcuTable {
  kernels::KernelMetrics metrics;
  std::vector<LeftOutKernel> left_out;  // kernels whose rows lack cells, up to 100 by name, and one entry for all others
};

// What a program printed around the table is passed over. Fails with one sentence where the file is none, is of another page, or says no units.
[[nodiscard]] Result<NcuTable> read_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress = {});

// The same as a trace: Nsight Compute runs kernels one by one, so they stand one behind the other, each for the time that it took; when they
// were launched is not known. Their metrics are those of measured launches (kernel_records.h), and shares that sections show are counters of the GPU
// as well, which hold while the kernel runs.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
