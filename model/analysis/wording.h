// Numbers as sentences have them, and names that belong together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/loop/loop.h"
#include "model/stats/table.h"
#include "model/text/message.h"
#include "model/trace/combining/parts.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

[[nodiscard]] std::string duration_text(Nanoseconds duration);                          // "2.35 s", "12.3 ms", "417 ns"
[[nodiscard]] std::string percent_text(Nanoseconds part, Nanoseconds whole);            // "38 %", "0.4 %"; "0 %" of nothing
[[nodiscard]] inline double percent_of(Nanoseconds part, Nanoseconds whole) noexcept {  // the same as a number
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
// "1 gap", "12,034 gaps"; the noun is a template with an s to come.
[[nodiscard]] Message counted(std::uint64_t number, std::string_view noun);
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);  // "12.5 MB"

// The file that a process, or what ran on a GPU, comes from, where several were read as one trace; else empty.
[[nodiscard]] std::string file_of_process(const Trace& trace, ProcessId process);
[[nodiscard]] std::string file_of_gpu(const PartsOfGpus& parts, GpuId gpu);
// Of several files, whose GPUs and processes may have one number each, adds the file of each row's GPU as the last column. Requires: a GPU for each row. O(rows
// + tracks).
void add_files(const Trace& trace, const std::vector<GpuId>& gpus, stats::Table& table);
// What GPUs are called in a sentence; where others of the trace have its number, with its file. The trace must outlive it.
class GpuTexts {
 public:
  explicit GpuTexts(const Trace& trace);  // O(GPUs · log GPUs), and O(tracks + counters) of several files
  // "GPU 0", "rank1.trace: GPU 0"; "GPU 0 NVIDIA H200". Requires: the trace has it. O(log GPUs).
  [[nodiscard]] std::string plain(GpuId gpu) const;
  [[nodiscard]] std::string named(GpuId gpu) const;

 private:
  [[nodiscard]] std::string with_file(GpuId gpu, std::string text) const;

  const Trace& trace_;
  PartsOfGpus parts_;
  std::map<std::uint32_t, std::size_t> gpus_;  // of a number: how many
};

// `NVTX range "step_12"`; in a trace that knows no NVTX, `range "aten::mm"`.
[[nodiscard]] Message range_text(const Trace& trace, std::string_view name);

// The loop whose iterations are ranges of the family: `the loop "step_*"`; of executions of an XLA module, `the loop of module "jit_step"`.
[[nodiscard]] Message loop_text(std::string_view family);

[[nodiscard]] std::string_view range_name(const Trace& trace, EventRef range) noexcept;  // "" for an invalid one

}  // namespace lanescope::analysis
