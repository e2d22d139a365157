// What keeps the agent out of a program that must be started with it, as -t osrt requires.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace lanescope::session {

// The end of a sentence: why the agent can't be loaded when `executable` starts. Nothing if it can, or if that can't be found out. `pid`: a process that runs
// it, or ran it. `executable` is the process's name instead of a path if the path can't be read. Reads only the file's headers.
[[nodiscard]] std::optional<std::string> agent_obstacle(pid_t pid, const std::string& executable);

}  // namespace lanescope::session
