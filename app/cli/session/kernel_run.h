// Runs a program to measure its kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/session/kernel_counters.h"
#include "model/file/result.h"

namespace lanescope::cli {

// The program's exit code as a shell sees it. Its output is its own; what there is to say of the recording goes to standard error. `file` must not
// exist. Fails with one sentence.
Result<int> record_kernels(const std::vector<std::string>& program, const session::KernelCounterSettings& counters,
                           const std::filesystem::path& file);

}  // namespace lanescope::cli
