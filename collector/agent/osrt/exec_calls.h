// What comes before a process becomes another program: the agent hands over what it holds of CUPTI's records. Safe in a signal handler;
// does nothing but look at the file in the child of a vfork.
#pragma once

namespace lanescope::agent::osrt {

// Programs look for others by trying: what can't be run ends nothing. `path`: of the program's file; null where that is not known.
void hand_over_before_exec(const char* path) noexcept;

}  // namespace lanescope::agent::osrt
