// Names of what the kernel says of threads: the calls that they make, and its tracepoints.
#pragma once

#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::cpu {

// Names of the kernel's system calls, in the order of the alphabet. Those that are newer than this build are missing.
[[nodiscard]] std::vector<std::string> system_call_names();

// "sched/sched_switch", in the order of the alphabet. Fails with one sentence if tracefs is not mounted, or not accessible to this user.
Result<std::vector<std::string>> tracepoint_names();

}  // namespace lanescope::cpu
