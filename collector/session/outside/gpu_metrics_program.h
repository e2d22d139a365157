// Where the program is that samples GPU metrics. Internal to collector/session.
#pragma once

#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::session {

// What to run: the words of LANESCOPE_GPU_METRICS if that is set, so that it can start with sudo, else lanescope-gpu-metrics beside the running program.
Result<std::vector<std::string>> gpu_metrics_command();

}  // namespace lanescope::session
