// Quitting: all windows close, one after another. A window that has to wait for what it records closes later, and the others then.
//
// Threads: the GUI thread only.
#pragma once

namespace lanescope::ui {

// Closes windows until one is to stay, or has to wait.
void quit_all();
// A window is to stay after all: nothing closes behind it.
void call_off_quitting();
// A window has closed: those that are left follow, where they are to.
void go_on_quitting();

}  // namespace lanescope::ui
