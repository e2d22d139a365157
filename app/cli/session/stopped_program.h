// A program that was stopped, by itself or by somebody who stopped it alone: the shell of its terminal waits for us, and learns of it from us.
#pragma once

#include <sys/types.h>

namespace lanescope::cli {

// Whether a shell may wait for us: we have a terminal.
[[nodiscard]] bool has_terminal() noexcept;

// Whether a process stands still, stopped by a signal. Safe between fork and exec.
[[nodiscard]] bool is_stopped(pid_t process) noexcept;

// Whether a process has children that live; true where the kernel does not say.
[[nodiscard]] bool has_children(pid_t process);

// Stops this process as Ctrl+Z does, until somebody has it go on, and returns whether it stood. The kernel does not stop it where nobody is there
// who would have it go on: in a process group without a shell above it (`ssh -t`, `docker exec -it`, the first process of a container), and
// where the signal is ignored. Requires: SIGTSTP and SIGCONT are blocked.
bool stop_as_terminals_do() noexcept;

// Stops this process until the shell has it go on, or the program goes on: what that does must be taken from it. Does nothing where
// nobody could see to that. Requires: a child of ours, and no other process that is recorded.
void stop_with(pid_t program);

}  // namespace lanescope::cli
