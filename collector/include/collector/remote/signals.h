// Signals that come here and are for a program that is recorded on another machine.
#pragma once

namespace lanescope::remote {

// Whether a signal asks a program neither for its end nor to stop, nor tells of a fault of its own, so that it is given to the one there as it is: SIGUSR1,
// SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXCPU, and those without a meaning (SIGRTMIN to SIGRTMAX). False for any other number.
[[nodiscard]] bool passes_on(int signal) noexcept;

}  // namespace lanescope::remote
