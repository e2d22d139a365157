// A process in which the agent counts as loaded, and is not: a child that was forked while another thread's loader was at work on it. Nothing may be used here
// that the loader fills in: no function of another file, and no address in a table.
#pragma once

namespace lanescope::agent {

// Leaves a note about this process, in the file for such notes beside the socket of the session for which the program was started. Does nothing if there is no
// such file. Takes 5 KiB of stack.
void leave_word_of_unfinished() noexcept;

}  // namespace lanescope::agent
