// Shows the viewer's windows, and ends the program without asking them.
#pragma once

#include <functional>

#include "window/windows.h"

namespace lanescope::ui {

// Shows windows until the last of them is closed; `begin` adds the first one. Returns the exit code of the program.
//
// SIGINT, SIGTERM, SIGHUP, SIGQUIT, or the loss of the display end the program without a question: recordings are stopped as their forms say and their files
// are completed, what windows remember is stored, and files that are being exported are left unwritten. A further signal keeps only what a recording has by
// then. After a signal this function does not return: it ends the process as the signal would have. A signal that was ignored when the viewer was started stays
// ignored.
//
// Threads: the GUI thread only. Requires an application.
[[nodiscard]] int show_windows(Layout layout, const std::function<void(Windows& windows)>& begin);

}  // namespace lanescope::ui
