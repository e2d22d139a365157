// Counts at the instructions of kernels, by source line and by instruction.
#include "model/kernels/instructions/instruction_counts.h"
#include "model/kernels/instructions/instruction_mix.h"

#include "../report_functions.h"

namespace lanescope::stats {
namespace {

using kernels::Count;
using kernels::CountSum;
using kernels::SumBy;

std::int64_t count_of(const CountSum& sum, Count count) { return sum.counts.has(count) ? static_cast<std::int64_t>(sum.counts.of(count)) : kNoInteger; }

// Average per executed instruction of the number of threads of its warp that executed it.
double per_instruction(const CountSum& sum, Count count) {
  const std::uint64_t executed = sum.counts.of(Count::kExecuted);
  return executed == 0 || !sum.counts.has(count) ? kNoReal : static_cast<double>(sum.counts.of(count)) / static_cast<double>(executed);
}

Table table_of(const Selection& selection, SumBy by) {
  const Trace& trace = selection.trace();
  const std::vector<CountSum> sums = kernels::sum_counts(trace, by, selection.time());
  std::uint64_t all = 0;
  for (const CountSum& sum : sums) all += sum.counts.of(Count::kExecuted);
  std::vector<Column> columns{reals("Executed", Unit::kPercent),
                              integers("Executed"),
                              reals("Threads"),
                              reals("Threads On"),
                              integers("Divergent Threads"),
                              integers("Global Sectors"),
                              integers("Global Sectors Ideal"),
                              integers("Shared Wavefronts"),
                              integers("Shared Wavefronts Ideal"),
                              integers("Local Sectors")};
  if (by == SumBy::kInstruction) columns.push_back(integers("Offset"));
  columns.push_back(texts("Stride"));
  columns.push_back(texts("Line"));
  columns.push_back(texts("Name"));
  Table table(std::move(columns));
  for (const CountSum& sum : sums) {
    std::vector<Cell> cells{all == 0 ? 0.0 : 100 * static_cast<double>(sum.counts.of(Count::kExecuted)) / static_cast<double>(all),
                            count_of(sum, Count::kExecuted), per_instruction(sum, Count::kThreads), per_instruction(sum, Count::kThreadsOn)};
    for (const Count count : {Count::kDivergentThreads, Count::kGlobalSectors, Count::kGlobalSectorsIdeal, Count::kSharedWavefronts,
                              Count::kSharedWavefrontsIdeal, Count::kLocalSectors})
      cells.emplace_back(count_of(sum, count));
    if (by == SumBy::kInstruction) cells.emplace_back(static_cast<std::int64_t>(sum.pc));
    cells.emplace_back(table.add_text(sum.stride ? kernels::stride_text(*sum.stride).english() : std::string()));
    cells.emplace_back(table.add_text(sum.line));
    cells.emplace_back(table.add_text(std::string(trace.name(sum.kernel))));
    table.add_cells(cells);
  }
  return table;
}

}  // namespace

Table instruction_count_sum(const Selection& selection, const ReportOptions&) { return table_of(selection, SumBy::kInstruction); }
Table opcode_count_sum(const Selection& selection, const ReportOptions&) {
  const std::vector<kernels::InstructionMix> mixes = kernels::instruction_mixes(selection.trace(), selection.time());
  Table table({reals("Executed", Unit::kPercent), integers("Executed"), reals("Threads On"), texts("Opcode"), texts("Name")});
  for (const kernels::InstructionMix& mix : mixes)
    for (const kernels::OpcodeCount& each : mix.opcodes)
      table.add_row(100 * static_cast<double>(each.executed) / mix.executed, static_cast<std::int64_t>(each.executed),
                    each.threads == 0 ? kNoReal : static_cast<double>(each.threads) / static_cast<double>(each.executed), table.add_text(each.opcode),
                    table.add_text(std::string(selection.trace().name(mix.kernel))));
  return table;
}
Table line_count_sum(const Selection& selection, const ReportOptions&) { return table_of(selection, SumBy::kLine); }

}  // namespace lanescope::stats
