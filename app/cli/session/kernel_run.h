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

// Sentences for the user about what was chosen and not measured: one for each of the first kernels, and how many more there are.
std::vector<std::string> left_out_sentences(const session::AppendedCounters& appended);

// The `most` kernels and shapes of a recording that took most of the GPU's time, among those whose names fit (session::KernelCounterSettings::kernel). For
// each, an early launch of about the median duration is chosen, as the second one: a further run of the program measures it. Kernels that CUDA graphs
// launched are left out.
struct Costliest {
  std::vector<channel::ChosenKind> kinds;
  double share = 0;  // of the time of all launches that were looked at
};
[[nodiscard]] Costliest costliest_kernels(const Trace& trace, const std::string& kernel, std::size_t most);

struct MeasuredProgram {
  int code = 0;                      // as a shell sees it
  std::optional<FileIdentity> file;  // its recording
  std::optional<Error> failure;      // why nothing, or not everything, was measured in the program that ran
};

// Returns how the program ended. If passes take a run each (KernelReplay::kApplication), this is about the first run, and only its output is shown. The
// program's output stays its own; messages about the recording go to standard error. `file` must not exist. `kernel_counters` were started with `counters`.
// Fails with one sentence if the program did not run.
Result<MeasuredProgram> record_kernels(const kernels::Program& program, session::KernelCounters& kernel_counters,
                                       const session::KernelCounterSettings& counters, const std::filesystem::path& file);

// The same for counts of instructions. CUPTI counts one kernel in a run of a program. The first run is therefore recorded without counting, and then the
// program runs once more for each kernel and shape that was chosen from it, the most costly first; the output of these runs is not shown. A signal ends what
// runs, and no further run starts.
Result<MeasuredProgram> record_instruction_counts(const kernels::Program& program, const session::KernelCounterSettings& chosen,
                                                  const std::filesystem::path& file);

}  // namespace lanescope::cli
