// Findings as a table for programs.
#pragma once

#include <span>

#include "model/analysis/finding.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// Always English. Columns: Cost, Start, End, GPU, PID, TID, Rule, Key, When ("once", or empty), Finding, Seen, Advice, Line (of source), Hidden (of the
// cost). A cell is empty if the finding has no such place. O(findings).
[[nodiscard]] stats::Table findings_table(const Trace& trace, std::span<const Finding> findings);

}  // namespace lanescope::analysis
