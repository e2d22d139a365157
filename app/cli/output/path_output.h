// The critical path of a step, as `analyze` writes it.
#pragma once

#include "model/file/result.h"
#include "model/stats/report.h"
#include "model/text/language.h"
#include "model/trace/trace.h"
#include "table_output.h"

namespace lanescope::cli {

// Writes the path of the range or the time that the options name, as text for people or as two tables. Of a range that several processes have, that of the
// process in which it ends last. Requires: the options name one of the two, and the trace has it.
[[nodiscard]] Result<void> write_critical_path(const Trace& trace, const stats::ReportOptions& options, TableOutput& output, const Language& language);

}  // namespace lanescope::cli
