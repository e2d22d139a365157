// Tells if dlopen() would do the same for the agent as for its caller.
//
// The loader takes the caller into account: it looks for a name without a path in the caller's RUNPATH and RPATH, and not in the system's folders if the caller
// wants that (-z nodefaultlib). What it loads inherits the RPATH of the files that loaded the caller. If none of these has any, a call from the agent finds the
// same as one from the caller.
#pragma once

namespace lanescope::agent::osrt {

// Call once, while the program is loaded, if the agent is loaded with it: the files that are loaded now belong to the program itself.
void note_loaded_files() noexcept;

// `caller`: an address in its code. True if the caller matters, may matter, or if that can't be found out without waiting. O(loaded files).
bool caller_matters(const char* file, const void* caller) noexcept;

}  // namespace lanescope::agent::osrt
