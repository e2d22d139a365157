// What the kernel says about a process (/proc).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/session/recording.h"

namespace lanescope::session {

// Fields stay empty when the process is gone or belongs to someone else.
struct ProcessDescription {
  pid_t parent = 0;
  std::string executable;  // resolved path
  std::vector<std::string> arguments;
  bool operator==(const ProcessDescription&) const = default;
};
[[nodiscard]] ProcessDescription describe_process(pid_t pid);

// Names of the process's threads by kernel thread id, at most `limit` of them.
[[nodiscard]] std::map<std::uint32_t, std::string> thread_names(pid_t pid, std::size_t limit);

// How a process ended that its parent has not waited for yet; none while it runs, once it was waited for, or if it is not ours to know.
[[nodiscard]] std::optional<ExitStatus> zombie_status(pid_t pid);

}  // namespace lanescope::session
