// Before a process becomes another program, the agent hands over the CUPTI records that it holds. Safe in a signal handler; in the child of a vfork it only
// looks at the file.
#pragma once

namespace lanescope::agent::osrt {

// Programs look for others by trying: a file that can't be run ends nothing. `path`: the program's file; null if unknown.
void hand_over_before_exec(const char* path) noexcept;

}  // namespace lanescope::agent::osrt
