// Runs a program to measure its kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/session/kernel_counters.h"
#include "model/file/result.h"

namespace lanescope::cli {

// What was chosen and not measured, for the user: a sentence for each of the first kernels, and how many more there are.
std::vector<std::string> left_out_sentences(const session::AppendedCounters& appended);

// The program's exit code as a shell sees it; where passes take a run each (KernelReplay::kApplication), the first run's, of which alone the output is shown. Its output is its own; what there is to say of the recording goes to standard error. `file` must not
// exist. Fails with one sentence.
Result<int> record_kernels(const std::vector<std::string>& program, const session::KernelCounterSettings& counters,
                           const std::filesystem::path& file);

// The same of counts of instructions. CUPTI counts one kernel in a run of a program: the first run is recorded as it is, and then the program
// runs once more for each kernel and shape that was chosen of that, the most costly first; its output is not shown then. A signal ends
// what runs, and no further run begins.
Result<int> record_instruction_counts(const std::vector<std::string>& program, const session::KernelCounterSettings& chosen,
                                      const std::filesystem::path& file);

}  // namespace lanescope::cli
