// A program that was stopped, by itself or by somebody who stopped only it. The shell of its terminal waits for us, and learns of the stop from us.
#pragma once

#include <sys/types.h>

namespace lanescope::cli {

// True if a shell may wait for us, because we have a terminal.
[[nodiscard]] bool has_terminal() noexcept;

// True if a process is stopped by a signal. Safe between fork and exec.
[[nodiscard]] bool is_stopped(pid_t process) noexcept;

// True if a process has children that live, or if the kernel does not say.
[[nodiscard]] bool has_children(pid_t process);

// Stops this process as Ctrl+Z does, until somebody continues it. Returns true if it was stopped. The kernel does not stop it if nobody is there who would
// continue it: in a process group without a shell above it (`ssh -t`, `docker exec -it`, the first process of a container), and if the signal is ignored.
// Requires: SIGTSTP and SIGCONT are blocked.
bool stop_as_terminals_do() noexcept;

// Stops this process until the shell continues it, or the program continues, because what it does must then be taken from it. Does nothing if nobody could
// see to that. Requires: a child of ours, and no other process that is recorded.
void stop_with(pid_t program);

}  // namespace lanescope::cli
