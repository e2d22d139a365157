// What a file says first: of the machine, of what is recorded, and of whom.
#pragma once

#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

// At the time of the call. `settings`: what can be recorded of what was asked for.
proto::SessionStart session_start(const LaunchRequest& request, const CaptureSettings& settings);
proto::SessionStart session_start(const AttachRequest& request);

// Puts the settings of threads in place of those that were described.
void describe_settings(const cpu::CpuSettings& settings, proto::CaptureSettings& described);

}  // namespace lanescope::session
