// Signals that arrive here and are meant for a program that is recorded on another machine.
#pragma once

namespace lanescope::remote {

// True for a signal that neither asks a program to end or to stop, nor tells of a fault of its own. Such a signal is passed to the program there unchanged:
// SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXCPU, and those without a meaning (SIGRTMIN to SIGRTMAX). False for any other number.
[[nodiscard]] bool passes_on(int signal) noexcept;

}  // namespace lanescope::remote
