// The places through which loaded files call functions of other files (their global offset tables), in a process that runs already.
#pragma once

#include <cstddef>

namespace lanescope::agent::osrt {

struct Redirection {
  const char* name;  // of the function
  void* from;        // that is called today
  void* to;          // that is called from now on
};

// Lets calls to `from` go to `to`, in all files that are loaded now; calls that are under way end where they began. Slots that hold
// something else, another tool's function for one, are left alone. Returns how many were changed; asked again, those of files that came
// meanwhile. One thread at a time. O(relocations of the files), but for a look where no file was loaded since the last time.
std::size_t redirect_calls(const Redirection* redirections, std::size_t count) noexcept;

}  // namespace lanescope::agent::osrt
