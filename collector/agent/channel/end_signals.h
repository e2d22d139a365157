// SIGTERM, SIGINT and SIGHUP, if the program handles none of them: the remaining data is handed over first, then the program ends by the signal, as without us.
//
// A disposition other than the default is left alone. The program does not see ours (process/handlers.h); one that it sets later replaces it.
#pragma once

namespace lanescope::agent {

// From here on, in this process and not in its children. `last_work` is called on the thread that receives the signal. It may do only what a signal handler may
// do, and take half a second at most. A second signal in the meantime ends the program at once. Once per process.
void before_end_signals(void (*last_work)()) noexcept;

}  // namespace lanescope::agent
