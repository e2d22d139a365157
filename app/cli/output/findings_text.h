// Findings for people, and as a table for programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/analysis/finding.h"
#include "model/stats/table.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::cli {

// What the findings are parts of, then one paragraph a finding: the sentence, what was seen, where to zoom, what to do.
[[nodiscard]] std::string findings_text(const Trace& trace, const Message& summary, std::span<const analysis::Finding> findings, const Language& language);

// Always English. Columns: Cost, Start, End, GPU, PID, TID, Rule, Key, When ("once", or empty), Finding, Seen, Advice. Where there is no such place, the
// cell is empty.
[[nodiscard]] stats::Table findings_table(const Trace& trace, std::span<const analysis::Finding> findings);

}  // namespace lanescope::cli
