// What `lanescope kernels` says of measured kernels: verdicts, sections, raw values; for people and as tables.
#pragma once

#include <string>
#include <vector>

#include "model/kernels/recorded_metrics.h"
#include "model/stats/table.h"

namespace lanescope::cli {

// Each cause with what it could win at most, the largest first.
[[nodiscard]] stats::Table verdict_table(const kernels::RecordedMetrics& kernels);
// Of these sections, or of all where one is "all"; of every kernel, by weight.
[[nodiscard]] stats::Table section_table(const kernels::RecordedMetrics& kernels, const std::vector<std::string>& sections);
// All values.
[[nodiscard]] stats::Table raw_table(const kernels::RecordedMetrics& kernels);
// To standard output: each kernel with what bounds it and what would help.
void print_verdicts(const kernels::RecordedMetrics& kernels);

}  // namespace lanescope::cli
