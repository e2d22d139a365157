// SIGTERM, SIGINT and SIGHUP where the program awaits none of them: what is left to hand over is handed over first, then the program ends
// by that signal, as without us.
//
// A disposition is left alone that is not the default one. The program does not see ours (process/handlers.h); one that it sets later replaces it.
#pragma once

namespace lanescope::agent {

// From here on, in this process and not in its children. `last_work` is called on the thread that the signal comes to: only what a signal
// handler may do, and half a second at most. A second signal meanwhile ends the program at once. Once for the process.
void before_end_signals(void (*last_work)()) noexcept;

}  // namespace lanescope::agent
