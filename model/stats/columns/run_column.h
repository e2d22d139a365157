// The run or the file to which the rows of a report belong, if runs are compared or several files were read as one trace. Internal to model/stats.
#pragma once

#include <utility>

#include "model/stats/table.h"
#include "model/trace/combining/parts.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// The run of each process, as texts of the table. O(processes · log tracks).
[[nodiscard]] Texts runs_of_processes(const Trace& trace, Table& table);

// The file of each process, as texts of the table. O(processes · log tracks).
[[nodiscard]] Texts files_of_processes(const Trace& trace, Table& table);

// Adds the origin of each row's process, which is process_of(row): a column "Run" at the front, if runs are compared; else, if several files were read as one
// trace, a column "File" at the end, because processes of several files may have equal numbers. O(rows + processes · log tracks).
template <typename ProcessOf>
void add_origins(const Trace& trace, Table& table, const ProcessOf& process_of) {
  if (trace.parts().empty()) return;
  const bool are_runs = compares_runs(trace);
  const Texts of_processes = are_runs ? runs_of_processes(trace, table) : files_of_processes(trace, table);
  Texts origins(table.row_count());
  for (std::size_t row = 0; row < origins.size(); ++row)
    if (const ProcessId process = process_of(row); process < of_processes.size()) origins[row] = of_processes[process];
  table.insert_column(are_runs ? 0 : table.columns().size(), {are_runs ? "Run" : "File", Unit::kNone, std::move(origins)});
}

}  // namespace lanescope::stats
