// Ends of the process, or of its program, that run no handlers of atexit(): _exit(), _Exit() and quick_exit(), and execve() and its variants.
#pragma once

#include <span>

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent::cupti {

// The functions that hand over before another program begins; empty if there are none, as in tests. Set while the agent is loaded.
extern constinit std::span<const Redirection> exec_redirections;

// From here on finish() runs before the end of the process, and hand_over() before another program, if these functions are called from a file that is loaded
// now. (If the agent is preloaded, its own functions of these names do so for all files.) Once per process; takes as long as core/loader/call_slots.h says.
// Calls by which the program sets the signals of channel/end_signals.h are followed in the same way.
void finish_before_exits() noexcept;

}  // namespace lanescope::agent::cupti
