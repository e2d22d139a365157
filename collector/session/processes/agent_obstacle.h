// What keeps the agent out of a program that is started with it, as -t osrt needs it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace lanescope::session {

// The end of a sentence: why the agent can't be loaded when `executable` starts; none where it can, or where that file can't be read. `pid`: who
// runs it, or ran it. Reads the file's headers alone.
[[nodiscard]] std::optional<std::string> agent_obstacle(pid_t pid, const std::string& executable);

}  // namespace lanescope::session
