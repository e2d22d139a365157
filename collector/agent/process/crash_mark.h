// Which thread a fatal signal came to, and for which address, noted in the session's memory.
//
// What followed without us follows then, be it a handler of the program's that was there before, or the default action with a core dump of
// the same place. The program does not see our handlers (process/handlers.h); those that it sets later replace ours, and then there is no note. A process that
// lives on after such a signal leaves a note that its real end overwrites, or that the host does not believe.
#pragma once

#include "collector/channel/layout.h"

namespace lanescope::agent {

// From here on notes go there; null: nowhere. The first call stands before the handlers that there are. Safe in the child of a fork.
void mark_crashes_in(channel::AgentStatus* status) noexcept;

// Called on the thread of the signal, behind the note, where the process will hardly live on: at SIGABRT, and at others that no handler of
// the program's awaits. Only what a signal handler may do, and not for long. One for the process.
void before_crashes(void (*last_work)()) noexcept;

}  // namespace lanescope::agent
