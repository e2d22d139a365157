// The seccomp filters of the threads of another process, and whether the agent can survive under them.
#pragma once

#include <optional>
#include <string>

#include "collector/attach/candidate.h"

namespace lanescope::attach {

enum class Entrance { kItsFile, kCopy };  // how the agent is loaded: kCopy if the process does not see our files

// Why the process might be ended for a system call that the agent makes in it, as the end of a sentence that says what to do instead; nothing if this
// can't happen. Each thread that has a filter is stopped for a moment while the filter is read, which requires CAP_SYS_ADMIN. Without that, filters
// are known only if they must be our own: those of the container that both processes are in.
//
// Must be called from a thread that traces no thread.
std::optional<std::string> deadly_filter(const Candidate& candidate, Entrance entrance);

}  // namespace lanescope::attach
