// Runs a program to measure its kernels.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collector/session/kernel_counters.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/kernels/program.h"

namespace lanescope::cli {

// What was chosen and not measured, for the user: a sentence for each of the first kernels, and how many more there are.
std::vector<std::string> left_out_sentences(const session::AppendedCounters& appended);

// The kernels and shapes of a recording that took most of the GPU's time, `most` of those whose names fit (session::KernelCounterSettings::kernel), and of each
// an early launch of about the median duration as the second one: what a further run of the program measures. What CUDA graphs launched is left out.
struct Costliest {
  std::vector<channel::ChosenKind> kinds;
  double share = 0;  // of the time of all launches that were looked at
};
[[nodiscard]] Costliest costliest_kernels(const Trace& trace, const std::string& kernel, std::size_t most);

struct MeasuredProgram {
  int code = 0;                      // as a shell sees it
  std::optional<FileIdentity> file;  // the recording of it
  std::optional<Error> failure;      // why nothing, or not all, was measured of the program that ran
};

// How the program ended. Where passes take a run each (KernelReplay::kApplication), this is of the first run, and only its output is shown. The program's
// output is its own; what there is to say of the recording goes to standard error. `file` must not exist. `kernel_counters` were started of `counters`.
// Fails with one sentence where the program did not run.
Result<MeasuredProgram> record_kernels(const kernels::Program& program, session::KernelCounters& kernel_counters,
                                       const session::KernelCounterSettings& counters, const std::filesystem::path& file);

// The same of counts of instructions. CUPTI counts one kernel in a run of a program: the first run is recorded as it is, and then the program
// runs once more for each kernel and shape that was chosen of that, the most costly first; its output is not shown then. A signal ends
// what runs, and no further run begins.
Result<MeasuredProgram> record_instruction_counts(const kernels::Program& program, const session::KernelCounterSettings& chosen,
                                                  const std::filesystem::path& file);

}  // namespace lanescope::cli
