// The first frame of a file: about the machine, what is recorded, and which program.
#pragma once

#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

// The frame for the time of the call. `settings`: the part of the requested settings that can be recorded.
proto::SessionStart session_start(const LaunchRequest& request, const CaptureSettings& settings);
proto::SessionStart session_start(const AttachRequest& request);

// Replaces the described settings of threads by these.
void describe_settings(const cpu::CpuSettings& settings, proto::CaptureSettings& described);

}  // namespace lanescope::session
