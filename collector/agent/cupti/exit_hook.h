// Ends of the process, or of its program, that run no handlers of atexit(): _exit(), _Exit() and quick_exit(), execve() and its kind.
#pragma once

#include <span>

namespace lanescope::agent::cupti {

// A function of the C library, and what is called in its place.
struct Replacement {
  const char* name;
  void* function;
};

// Those that hand over before another program begins; empty where there are none, as in tests. Set while the agent is loaded.
extern constinit std::span<const Replacement> exec_replacements;

// From here on finish() comes before the end of the process, and hand_over() before another program, where they are called from a file that
// is loaded now. (Where the agent is preloaded, its own functions of that name see to that for all files.) Once for the process; takes some
// hundred microseconds.
void finish_before_exits() noexcept;

}  // namespace lanescope::agent::cupti
