// The life of the viewer's windows, and an end of it that they are not asked about.
#pragma once

#include <functional>

#include "window/windows.h"

namespace lanescope::ui {

// Shows windows until the last of them is closed; `begin` adds the first. Returns the exit code of the program.
//
// SIGINT, SIGTERM, SIGHUP or SIGQUIT end it without a question, and so does the display where it goes away: recordings are stopped as their forms say and
// their files completed, what a window remembers is kept, and files that are being exported are left unwritten. A further signal keeps of a recording
// what there is by then. Behind a signal this does not return: it ends the process as that would have. A signal that whoever started this had ignored
// stays so.
//
// Threads: the GUI thread only. Requires an application.
[[nodiscard]] int show_windows(Layout layout, const std::function<void(Windows& windows)>& begin);

}  // namespace lanescope::ui
