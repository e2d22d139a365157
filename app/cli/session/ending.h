// How this process ends, where its exit code does not say all of it.
#pragma once

namespace lanescope::cli {

// The signal that came to us ended the program as well: we are to end by it, once all is done. Who waits for us is to see what it would see of the program:
// a shell ends a script or a loop where its child was ended by Ctrl+C, and goes on behind one that exits, with whatever code.
void end_by(int signal) noexcept;

// Ends by the signal that end_by() was told last, without a core file. Returns where there is none, or where it ends nobody, as of a container's first process.
void end_as_told() noexcept;

}  // namespace lanescope::cli
