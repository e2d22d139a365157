// Ends this process by a signal, so that whoever waits for it sees what it would see of a program that the signal ended: a shell ends a script or a loop if
// its child was ended by Ctrl+C, and goes on after a child that exits, with whatever code.
#pragma once

namespace lanescope::session {

// Leaves no core file. Returns if the signal does not end this process, as in the first process of a container. Any thread.
void end_by_signal(int signal) noexcept;

}  // namespace lanescope::session
