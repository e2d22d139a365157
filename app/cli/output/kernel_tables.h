// What `lanescope kernels` shows of measured kernels: verdicts, sections, raw values; as text and as tables.
#pragma once

#include <string>
#include <vector>

#include "model/kernels/counters/recorded_metrics.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::cli {

// Each cause with the most that it could win, the largest first. `trace`: the trace of these kernels, whose samples and counts name lines of source, and in
// which launches may run at the same time; null if there is none.
[[nodiscard]] stats::Table verdict_table(const kernels::RecordedMetrics& kernels, const Trace* trace);
// Values of these sections, or of all sections if one of them is "all", for every kernel, by weight.
[[nodiscard]] stats::Table section_table(const kernels::RecordedMetrics& kernels, const std::vector<std::string>& sections);
// The section InstructionStats for kernels whose instructions were counted, by opcode.
[[nodiscard]] stats::Table opcode_table(const Trace& trace);
// All values.
[[nodiscard]] stats::Table raw_table(const kernels::RecordedMetrics& kernels);
// For each kernel and value, over its measured launches: their number, minimum, maximum and mean. Kernels are in the order of their first launch.
[[nodiscard]] stats::Table summary_table(const kernels::RecordedMetrics& kernels);
// Prints to standard output, for each kernel, what bounds it and what would help.
void print_verdicts(const kernels::RecordedMetrics& kernels, const Trace* trace);

}  // namespace lanescope::cli
