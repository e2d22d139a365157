#include "session/ending.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>

namespace lanescope::cli {
namespace {

int ending_signal = 0;

}  // namespace

void end_by(int signal) noexcept { ending_signal = signal; }

void end_as_told() noexcept {
  if (ending_signal == 0) return;
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);  // for a program that gets core files, as no limit holds
  std::signal(ending_signal, SIG_DFL);
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, ending_signal);
  raise(ending_signal);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

}  // namespace lanescope::cli
