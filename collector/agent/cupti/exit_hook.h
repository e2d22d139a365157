// Ends of the process, or of its program, that run no handlers of atexit(): _exit(), _Exit() and quick_exit(), execve() and its kind.
#pragma once

#include <span>

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent::cupti {

// What hands over before another program begins; empty where there are no such functions, as in tests. Set while the agent is loaded.
extern constinit std::span<const Redirection> exec_redirections;

// From here on finish() comes before the end of the process, and hand_over() before another program, where they are called from a file that
// is loaded now. (Where the agent is preloaded, its own functions of that name see to that for all files.) Once for the process; takes as
// long as core/loader/call_slots.h says.
// What the program sets for the signals of channel/end_signals.h is followed in the same way.
void finish_before_exits() noexcept;

}  // namespace lanescope::agent::cupti
