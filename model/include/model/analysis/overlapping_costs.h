// Which findings may count the same time: costs of different rules are upper bounds, and no sum.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/analysis/finding.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// For each finding, the positions of those above it whose cost may be of the same time. The findings of one rule share no time, and neither do costs that are
// paid once and those of the loop. Findings without a cost share nothing. O(findings²).
[[nodiscard]] std::vector<std::vector<std::size_t>> shared_costs(const Trace& trace, std::span<const Finding> findings);

// One sentence about a list whose findings are numbered from 1; empty if no costs overlap.
[[nodiscard]] Message overlap_text(const std::vector<std::vector<std::size_t>>& shared);

}  // namespace lanescope::analysis
