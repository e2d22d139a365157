// What a program inherits from the process that starts it, beside its environment: limits (ulimit), ignored and blocked signals, and which
// of standard input, output and error are open. A recorder needs others than its program does: it keeps those that it was given, changes
// its own, and gives programs theirs.
#pragma once

namespace lanescope::session {

// Keeps what this process has inherited, and makes it fit to record: its soft limits rise to the hard ones, its children can be waited for
// (SIGCHLD), a write to a file that may grow no more fails instead of ending it (SIGXFSZ), and where standard input, output or error are
// closed they lead to /dev/null, so that no other file takes their numbers. To be called once, first of all, while there is one thread.
// Programs that are started by a process which did not call it inherit what that process has, with no signal blocked.
void keep_inheritance();

// For a child between fork and exec, or right before exec: makes it all as it was given to us. Safe in a child of a process with threads.
void give_back_inheritance() noexcept;

// For a recorder whose program has its standard input: it lets go of that, so that who writes there knows, as without us, when the program reads no more.
void let_go_of_standard_input() noexcept;

// Whether this descriptor (0, 1 or 2) was open.
[[nodiscard]] bool inherited(int standard_descriptor) noexcept;

}  // namespace lanescope::session
