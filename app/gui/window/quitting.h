// Quits the viewer: all windows close, one after another. A window that has to wait for its recording closes later, and the remaining windows after it.
//
// Threads: the GUI thread only.
#pragma once

namespace lanescope::ui {

// Closes windows until one has to stay or to wait.
void quit_all();
// A window stays open: no further windows are closed.
void call_off_quitting();
// A window has closed: if quitting goes on, closes the remaining windows.
void go_on_quitting();

}  // namespace lanescope::ui
