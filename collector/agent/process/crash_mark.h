// Notes in the session's memory which thread a fatal signal came to, and for which address.
//
// After the note, the signal has the same effect as without us: a handler that the program had before runs, or the default action writes a core dump of the
// same place. The program does not see our handlers (process/handlers.h). Handlers that it sets later replace ours, and then there is no note. If a process
// survives such a signal, its note is overwritten at its real end, or the host does not believe it.
#pragma once

#include "collector/channel/layout.h"

namespace lanescope::agent {

// From here on, notes go to `status`; null: nowhere. The first call puts our handlers before the existing ones. Safe in the child of a fork.
void mark_crashes_in(channel::AgentStatus* status) noexcept;

// `last_work` is called on the thread of the signal, after the note, if the process is unlikely to survive: at SIGABRT, and at other signals that no handler of
// the program awaits. It may do only what a signal handler may do, and not for long. One per process.
void before_crashes(void (*last_work)()) noexcept;

}  // namespace lanescope::agent
