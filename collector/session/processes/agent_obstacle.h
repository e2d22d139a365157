// What keeps the agent out of a program that must be started with it, as -t osrt requires.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace lanescope::session {

// The end of a sentence: why the agent can't be loaded when `executable` starts. Nothing if it can, or if that file can't be read. `pid`: a process that runs
// it, or ran it. Reads only the file's headers.
[[nodiscard]] std::optional<std::string> agent_obstacle(pid_t pid, const std::string& executable);

}  // namespace lanescope::session
