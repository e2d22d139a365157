// Where warps of kernels stalled, from PC samples: by kernel, by source line and by instruction.
#include <cstdio>

#include "../report_functions.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/combining/parts.h"

namespace lanescope::stats {
namespace {

using kernels::StallCount;
using kernels::StallSum;
using kernels::SumBy;

constexpr std::size_t kNamedReasons = 4;

double percent(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole); }

// "long_scoreboard 41 %, barrier 16 %": the most frequent reasons.
std::string reasons_text(const StallSum& sum) {
  std::string text;
  for (std::size_t i = 0; i < sum.stalls.size() && i < kNamedReasons; ++i) {
    char share[32];
    std::snprintf(share, sizeof(share), " %.1f %%", percent(sum.stalls[i].samples, sum.samples));
    text += (i == 0 ? "" : ", ") + std::string(sum.stalls[i].reason) + share;
  }
  return text;
}

Table table_of(const Selection& selection, SumBy by) {
  const Trace& trace = selection.trace();
  const std::vector<StallSum> sums = kernels::sum_stalls(trace, by, selection.time());
  std::uint64_t all = 0;
  for (const StallSum& sum : sums) all += sum.samples;
  std::vector<Column> columns{reals("Samples", Unit::kPercent), integers("Samples"), reals("Nothing Issued", Unit::kPercent), texts("Decisive Reason"),
                              reals("Of That", Unit::kPercent), texts("Reasons")};
  if (by == SumBy::kInstruction) columns.push_back(integers("Offset"));
  if (by != SumBy::kKernel) columns.push_back(texts("Line"));
  columns.push_back(integers("GPU"));
  columns.push_back(texts("Name"));
  Table table(std::move(columns));
  for (const StallSum& sum : sums) {
    const StallCount* const decisive = sum.decisive();
    std::vector<Cell> cells{percent(sum.samples, all),
                            static_cast<std::int64_t>(sum.samples),
                            percent(sum.not_issued, sum.samples),
                            table.add_text(decisive == nullptr ? std::string() : std::string(decisive->reason)),
                            decisive == nullptr ? kNoReal : percent(decisive->samples, sum.samples),
                            table.add_text(reasons_text(sum))};
    if (by == SumBy::kInstruction) cells.emplace_back(static_cast<std::int64_t>(sum.pc));
    if (by != SumBy::kKernel) cells.emplace_back(table.add_text(sum.line));
    cells.emplace_back(sum.gpu < trace.gpus().size() ? std::int64_t{trace.gpus()[sum.gpu].ordinal} : kNoInteger);
    cells.emplace_back(table.add_text(std::string(trace.name(sum.kernel))));
    table.add_cells(cells);
  }
  if (trace.parts().empty()) return table;
  // GPUs of several files may have equal numbers.
  const PartsOfGpus parts(trace);
  Texts files;
  for (const StallSum& sum : sums) {
    const TracePart* const part = parts.of(sum.gpu);
    files.push_back(table.add_text(part == nullptr ? std::string() : part->label));
  }
  table.insert_column(table.columns().size(), {"File", Unit::kNone, std::move(files)});
  return table;
}

}  // namespace

Table kernel_pc_sum(const Selection& selection, const ReportOptions&) { return table_of(selection, SumBy::kKernel); }
Table kernel_line_sum(const Selection& selection, const ReportOptions&) { return table_of(selection, SumBy::kLine); }
Table kernel_instruction_sum(const Selection& selection, const ReportOptions&) { return table_of(selection, SumBy::kInstruction); }

}  // namespace lanescope::stats
