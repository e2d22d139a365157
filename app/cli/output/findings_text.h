// Findings as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/analysis/finding.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::cli {

// First the summary, then one paragraph for each finding: the sentence, what was seen, where to zoom, what to do.
[[nodiscard]] std::string findings_text(const Trace& trace, const Message& summary, std::span<const analysis::Finding> findings, const Language& language);

// A moment of a trace: "1.234567 s".
[[nodiscard]] std::string moment_text(Nanoseconds time);

}  // namespace lanescope::cli
