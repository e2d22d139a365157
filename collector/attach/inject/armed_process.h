// Processes that were started to be attached to at any time (channel::kArmedVariable): they listen, and need not be stopped.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace lanescope::attach {

// Connects to such a process, and tells it where its children may join. The caller owns the result; -1 where this process does not listen. What another
// process has put in its place counts for nothing.
[[nodiscard]] int connect_to_armed(pid_t pid, const std::filesystem::path& session);

}  // namespace lanescope::attach
