#include "collector/remote/signals.h"

#include <csignal>

namespace lanescope::remote {

bool passes_on(int signal) noexcept {
  switch (signal) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
    case SIGIO:
    case SIGPWR:
    case SIGXCPU:
      return true;
    default:
      return signal >= SIGRTMIN && signal <= SIGRTMAX;
  }
}

}  // namespace lanescope::remote
