// Findings as a table for programs.
#pragma once

#include <span>

#include "model/analysis/finding.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// Always English. Columns: Cost, Start, End, GPU, PID, TID, Rule, Key, When ("once", or empty), Finding, Seen, Advice, Line (of source), Hidden (of the
// cost). Where there is no such
// place, the cell is empty. O(findings).
[[nodiscard]] stats::Table findings_table(const Trace& trace, std::span<const Finding> findings);

}  // namespace lanescope::analysis
