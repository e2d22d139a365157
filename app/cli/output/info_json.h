// What `lanescope info --json` prints. Existing keys do not change; new ones may be added.
#pragma once

#include <string>

#include "model/trace/trace.h"
#include "output/trace_summary.h"

namespace lanescope::cli {

// Times are ns since the recording started. `file`: its name as it was given.
[[nodiscard]] std::string info_json(const std::string& file, const Trace& trace, const EventCounts& counts, const FileFacts& facts);

}  // namespace lanescope::cli
