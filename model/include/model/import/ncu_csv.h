// Reads what Nsight Compute prints as CSV: ncu --csv --page raw, from a program or from a report (--import).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "model/file/result.h"
#include "model/kernels/kernel_metrics.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// Whether a file that begins so is such a CSV: of the page raw, or of another one, which can't be read.
[[nodiscard]] bool looks_like_ncu_csv(std::string_view head) noexcept;

// What a program printed around the table is passed over. Fails with one sentence where the file is none, or is of another page.
[[nodiscard]] Result<kernels::KernelMetrics> read_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress = {});

// The same as a trace: Nsight Compute runs kernels one by one, so they stand one behind the other, each for the time that it took; when they
// were launched is not known. Metrics that sections show are counters of the GPU, which hold while the kernel runs.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
