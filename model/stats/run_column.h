// Of which of the runs that are compared the rows of a report are. Internal to model/stats.
#pragma once

#include <functional>

#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// Where runs are compared, puts a column "Run" in front: that of each row's process. O(rows + processes · log tracks).
void add_runs(const Trace& trace, Table& table, const std::function<ProcessId(std::size_t row)>& process_of);

}  // namespace lanescope::stats
