// A program that can't be recorded, and runs nevertheless.
#pragma once

#include <sys/types.h>

#include "launch/launcher.h"

namespace lanescope::session {

// Stands for this child until it ends: passes on signals that are sent to us alone, and stops as it is stopped. Then ends this process with its exit code as
// a shell sees it, or with 1 if that is 0: whoever asked for a recording has none.
[[noreturn]] void stand_for(pid_t child);

// Runs the program as a child for which this process stands. Where there is no room for two processes, this process becomes the program. Returns only if the
// program can't be started, with the reason.
Error run_unrecorded(const LaunchPlan& plan);

}  // namespace lanescope::session
