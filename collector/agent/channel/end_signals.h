// SIGTERM, SIGINT and SIGHUP where the program awaits none of them: what is left to hand over is handed over first, then the program ends
// by that signal, as without us.
//
// A disposition is left alone that is not the default one; one that the program sets later replaces ours. To the program ours looks like
// the default one, as far as its calls are redirected.
#pragma once

#include <array>

#include "agent/core/call_slots.h"

namespace lanescope::agent {

// From here on, in this process and not in its children. `last_work` is called on the thread that the signal comes to: only what a signal
// handler may do, and half a second at most. A second signal meanwhile ends the program at once. Once for the process.
void before_end_signals(void (*last_work)()) noexcept;

// For calls of sigaction() and its kind.
std::array<Redirection, 3> end_signal_redirections() noexcept;

}  // namespace lanescope::agent
