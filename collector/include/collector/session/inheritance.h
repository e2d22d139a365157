// What a program inherits from the process that starts it, beside its environment: limits (ulimit), ignored and blocked signals, interval
// timers (alarm(), setitimer()), whether it gets orphans (PR_SET_CHILD_SUBREAPER), and open descriptors, standard input, output and error
// among them. A recorder needs others than its program does: it keeps those that it was given, changes its own, and gives programs theirs.
#pragma once

namespace lanescope::session {

// Keeps what this process has inherited, and makes it fit to record:
// - Soft limits rise to the hard ones, that of the stack to a usual one, which threads get in any case.
// - Children can be waited for (SIGCHLD).
// - A write to a file that may not grow any more fails instead of ending the process (SIGXFSZ).
// - Standard input, output or error lead to /dev/null if they were closed, so that no other file takes their numbers. What is written to standard output then
//   fails, as it would have.
// Must be called once, before anything else, while there is one thread. Programs that are started by a process which did not call it inherit what that
// process has, with no signal blocked.
void keep_inheritance();

// For a child between fork and exec, or right before exec: makes it all as it was given to us. Of the descriptors that this process has beside that, up to
// 1024, the program gets none. Safe in a child of a process with threads.
void give_back_inheritance() noexcept;

// For a recorder whose program has its standard input: closes the recorder's own, so that a writer notices, as without us, when the program reads no more.
void let_go_of_standard_input() noexcept;
// For a recorder that prints nothing to its standard output itself: closes it, so that its reader notices when the program and all that it left behind have
// closed theirs.
void let_go_of_standard_output() noexcept;

// For a recorder whose program has all descriptors that it was given beside these three: closes the recorder's own. Then whoever reads from the other end of
// one or waits for a lock of it (flock()) waits for the program alone, and the program may take the locks that this process was given (fcntl()). Programs that
// are started later get none of them.
void let_go_of_other_descriptors() noexcept;

// The number that this process had when it kept what it inherited; 0: it did not. A service manager may have told it that number, for the program that it
// starts.
[[nodiscard]] int inherited_number() noexcept;

// The signal that this process gets when the one that started it ends (PR_SET_PDEATHSIG), if it is SIGKILL; 0: none. All others come to a recorder as
// signals do, and are passed on.
[[nodiscard]] int inherited_death_signal() noexcept;

// Whether this descriptor (0 to 1023) was open, and would have gone to a program.
[[nodiscard]] bool inherited(int descriptor) noexcept;

}  // namespace lanescope::session
