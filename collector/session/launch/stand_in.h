// A program that can't be recorded, and runs nevertheless.
#pragma once

#include <sys/types.h>

#include "collector/session/recording.h"
#include "launch/launcher.h"

namespace lanescope::session {

// Stands for this child until it ends: passes on the signals that have not come to it as well, stops as it is stopped, and leaves standard input and output to
// it. Then ends this process by the signal that ended the child, or with its exit code, or with 1 if that is 0: whoever asked for a recording has none.
// `request`: who is asked about signals.
[[noreturn]] void stand_for(pid_t child, const LaunchRequest& request);

// Runs the program as a child for which this process stands. Where there is no room for two processes, this process becomes the program. Returns only if the
// program can't be started, with the reason.
Error run_unrecorded(const LaunchPlan& plan, const LaunchRequest& request);

}  // namespace lanescope::session
