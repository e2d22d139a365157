// The viewer as a program: its options, its application and its first window.
#pragma once

namespace lanescope::ui {

// Returns the exit code of the program.
int run_viewer(int argc, char** argv);

}  // namespace lanescope::ui
