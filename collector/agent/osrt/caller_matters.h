// Whether dlopen() would do the same for the agent as for its caller.
//
// The loader asks who calls: a name without a path is looked for in the caller's RUNPATH and RPATH, and not in the system's folders where the caller wants
// that (-z nodefaultlib), and what it loads inherits the RPATH of those who loaded the caller. Where none of them has any, a call from the agent finds what
// one from the caller does.
#pragma once

namespace lanescope::agent::osrt {

// To be called once, while the program is loaded, where the agent is loaded with it: the files that are there belong to the program itself.
void note_loaded_files() noexcept;

// `caller`: an address of its code. True where it matters, or may, or that does not come to be known without waiting. O(loaded files).
bool caller_matters(const char* file, const void* caller) noexcept;

}  // namespace lanescope::agent::osrt
