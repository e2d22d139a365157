#include "run_column.h"

#include <utility>
#include <vector>

#include "model/trace/parts.h"

namespace lanescope::stats {

void add_runs(const Trace& trace, Table& table, const std::function<ProcessId(std::size_t row)>& process_of) {
  if (!compares_runs(trace)) return;
  std::vector<TextId> of_process;
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    const TracePart* const part = part_of_process(trace, process);
    of_process.push_back(table.add_text(part == nullptr ? std::string() : part->run));
  }
  Texts runs(table.row_count());
  for (std::size_t row = 0; row < runs.size(); ++row)
    if (const ProcessId process = process_of(row); process < of_process.size()) runs[row] = of_process[process];
  std::vector<Column> columns = table.columns();
  columns.insert(columns.begin(), {"Run", Unit::kNone, std::move(runs)});
  table.set_columns(std::move(columns), table.row_count());
}

}  // namespace lanescope::stats
