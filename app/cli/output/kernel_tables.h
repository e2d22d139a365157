// What `lanescope kernels` says of measured kernels: verdicts, sections, raw values; for people and as tables.
#pragma once

#include <string>
#include <vector>

#include "model/kernels/counters/recorded_metrics.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::cli {

// Each cause with what it could win at most, the largest first. `trace` is the one that they are of, by whose samples and counts lines of source are named;
// null: there is none.
[[nodiscard]] stats::Table verdict_table(const kernels::RecordedMetrics& kernels, const Trace* trace);
// Of these sections, or of all where one is "all"; of every kernel, by weight.
[[nodiscard]] stats::Table section_table(const kernels::RecordedMetrics& kernels, const std::vector<std::string>& sections);
// The section InstructionStats of kernels whose instructions were counted, by opcode.
[[nodiscard]] stats::Table opcode_table(const Trace& trace);
// All values.
[[nodiscard]] stats::Table raw_table(const kernels::RecordedMetrics& kernels);
// Of each kernel and value, over its measured launches: their number, the least, the largest and the mean. Kernels stand in the order of their first launch.
[[nodiscard]] stats::Table summary_table(const kernels::RecordedMetrics& kernels);
// To standard output: each kernel with what bounds it and what would help.
void print_verdicts(const kernels::RecordedMetrics& kernels, const Trace* trace);

}  // namespace lanescope::cli
