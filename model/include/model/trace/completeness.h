// What a trace lacks of what happened, in words: the same in every program that shows it.
#pragma once

#include <string>

#include "model/trace/trace.h"

namespace lanescope {

// What was lost, as a list: "5 records dropped, 1 CUPTI buffer lost". Empty where nothing is known to be missing; that says nothing of
// traces whose source does not count (Provenance::format), and nothing of the file, of which Provenance::condition speaks. Late records lie
// outside of the recording and are not missing in it. O(processes + diagnostics).
[[nodiscard]] std::string missing_text(const Trace& trace);

// The whole sentence: "complete: nothing dropped", "incomplete: " and what is missing, or "completeness not recorded". What of
// the file could not be read, the condition says.
[[nodiscard]] std::string completeness_text(const Trace& trace);

}  // namespace lanescope
