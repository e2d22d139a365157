#include "collector/session/end_by_signal.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>

namespace lanescope::session {

void end_by_signal(int signal) noexcept {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);  // for core files that go to a program, to which the limit does not apply
  std::signal(signal, SIG_DFL);
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

}  // namespace lanescope::session
