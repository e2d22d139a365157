// Processes that were started so that they can be attached to at any time (channel::kArmedVariable): they listen, and need not be stopped.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace lanescope::attach {

// Connects to such a process, and tells it where its children may join. The caller owns the result; -1 if this process does not listen. Sockets that
// other processes have bound to its name are ignored.
[[nodiscard]] int connect_to_armed(pid_t pid, const std::filesystem::path& session);

}  // namespace lanescope::attach
