// The run to which the rows of a report belong, if runs are compared. Internal to model/stats.
#pragma once

#include <utility>

#include "model/stats/table.h"
#include "model/trace/combining/parts.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// The run of each process, as texts of the table. O(processes · log tracks).
[[nodiscard]] Texts runs_of_processes(const Trace& trace, Table& table);

// If runs are compared, inserts a column "Run" at the front: the run of each row's process, which is process_of(row). O(rows + processes · log tracks).
template <typename ProcessOf>
void add_runs(const Trace& trace, Table& table, const ProcessOf& process_of) {
  if (!compares_runs(trace)) return;
  const Texts of_processes = runs_of_processes(trace, table);
  Texts runs(table.row_count());
  for (std::size_t row = 0; row < runs.size(); ++row)
    if (const ProcessId process = process_of(row); process < of_processes.size()) runs[row] = of_processes[process];
  table.insert_column(0, {"Run", Unit::kNone, std::move(runs)});
}

}  // namespace lanescope::stats
