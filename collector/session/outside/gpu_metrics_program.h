// Where the program that samples GPU metrics lies. Internal to collector/session.
#pragma once

#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::session {

// What to run: the words of LANESCOPE_GPU_METRICS where that is set (so that it can begin with sudo), else lanescope-gpu-metrics beside the
// running program.
Result<std::vector<std::string>> gpu_metrics_command();

}  // namespace lanescope::session
