// Iterations that become slower and slower: the second part of the rule tail.
#pragma once

#include <span>
#include <vector>

#include "comparison.h"
#include "model/analysis/finding.h"

namespace lanescope::analysis::tail {

// Ranks that wait for one that becomes slower do so themselves: of processes with the same iterations at the same time, one finding is about the process that
// becomes slower most for reasons of its own.
[[nodiscard]] std::vector<Finding> growth_findings(const Search& search, std::span<const OfProcess> processes);

}  // namespace lanescope::analysis::tail
