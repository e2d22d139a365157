// The seccomp filters under which the threads of another process run, and whether they leave the agent alive.
#pragma once

#include <optional>
#include <string>

#include "collector/attach/candidate.h"

namespace lanescope::attach {

enum class Entrance { kItsFile, kCopy };  // how the agent is loaded: kCopy where the process does not see our files

// Why the process might be ended for a system call that the agent makes in it, as the end of a sentence that says what to do instead; none
// where nothing speaks against it. Threads that have a filter are stopped for a moment each, while it is read; that takes CAP_SYS_ADMIN.
// Without, filters are known only where they can be no others than our own: those of the container that both are in.
//
// Must be called from a thread that traces nobody.
std::optional<std::string> deadly_filter(const Candidate& candidate, Entrance entrance);

}  // namespace lanescope::attach
