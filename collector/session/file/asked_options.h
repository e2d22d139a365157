// What a user asked of a recording, as options of `lanescope profile`: "--trace=cuda,nvtx,mpi --nvtx-domain-include=NCCL --delay=2". Defaults are left out, and
// so is what proto::CaptureSettings says. Variables of the program's environment are private, and left out as well. A value with other characters than
// options usually have is in quotes, as for a shell.
#pragma once

#include <string>

#include "collector/session/recording.h"

namespace lanescope::session {

[[nodiscard]] std::string asked_options(const LaunchRequest& request, const CaptureSettings& settings);
[[nodiscard]] std::string asked_options(const AttachRequest& request);

}  // namespace lanescope::session
