// Numbers for use in sentences, and names that belong together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
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
[[nodiscard]] std::string percent_text(Nanoseconds part, Nanoseconds whole);            // "38 %", "0.4 %", "<0.1 %"; "0 %" if the whole is 0
[[nodiscard]] inline double percent_of(Nanoseconds part, Nanoseconds whole) noexcept {  // the same as a number
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
// "1 gap", "12,034 gaps"; the noun is a template to which an s is added.
[[nodiscard]] Message counted(std::uint64_t number, std::string_view noun);
// For a rule's table that its argument rows has cut: how many of the rows it shows.
[[nodiscard]] Message rows_left_out_text(std::string_view rule, std::uint64_t shown, std::uint64_t all);
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);  // "12.5 MB"

// If several files were read as one trace: the file that a process, or work on a GPU, comes from; otherwise empty.
[[nodiscard]] std::string file_of_process(const Trace& trace, ProcessId process);
[[nodiscard]] std::string file_of_gpu(const PartsOfGpus& parts, GpuId gpu);
// For several files, in which GPUs and processes may have the same numbers, adds the file of each row's GPU as the last column. Requires: a GPU for
// each row. O(rows + tracks).
void add_files(const Trace& trace, const std::vector<GpuId>& gpus, stats::Table& table);
// Names of GPUs in a sentence; with the file if others of the trace have the same number. The trace must outlive it.
class GpuTexts {
 public:
  explicit GpuTexts(const Trace& trace);  // O(GPUs · log GPUs), plus O(tracks + counters) for several files
  // "GPU 0", "rank1.trace: GPU 0"; "GPU 0 NVIDIA H200". Requires: the trace has this GPU. O(log GPUs).
  [[nodiscard]] std::string plain(GpuId gpu) const;
  [[nodiscard]] std::string named(GpuId gpu) const;

 private:
  [[nodiscard]] std::string with_file(GpuId gpu, std::string text) const;

  const Trace& trace_;
  PartsOfGpus parts_;
  std::map<std::uint32_t, std::size_t> gpus_;  // number of GPUs with a number
};

// "2 GPUs", of the machines: one that several recordings saw counts once, "1 GPU, in 2 recordings,". Each GPU must be given once.
[[nodiscard]] std::size_t distinct_gpus(const Trace& trace, std::span<const GpuId> gpus);
[[nodiscard]] Message gpus_counted(const Trace& trace, std::span<const GpuId> gpus);

// `NVTX range "step_12"`; in a trace without NVTX, `range "aten::mm"`.
[[nodiscard]] Message range_text(const Trace& trace, std::string_view name);

// The loop whose iterations are ranges of the family: `the loop "step_*"`; for executions of an XLA module, `the loop of module "jit_step"`.
[[nodiscard]] Message loop_text(std::string_view family);

// A family of ranges of an NVTX domain, where several domains have it: "step *@loader"; only "step *" for the default domain. Of long names of domains, the
// begin: there may be millions of families.
[[nodiscard]] std::string name_in_domain(std::string_view family, std::string_view domain);
[[nodiscard]] std::string_view range_name(const Trace& trace, EventRef range) noexcept;  // "" for an invalid reference

}  // namespace lanescope::analysis
