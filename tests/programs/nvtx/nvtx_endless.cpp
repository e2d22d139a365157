// A target that ends only when a signal ends it: 1,000 ranges "step", one more that stays open, then it prints "ready" and waits.
//
// nvtx_endless [CODE]: with an exit code, SIGINT and SIGTERM make it pop the open range and exit with that code, as a training script does.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  if (argc > 1) {
    sigprocmask(SIG_BLOCK, &ending, nullptr);
  } else {
    std::signal(SIGINT, SIG_DFL);  // a shell may have started us with it ignored
  }
  for (int i = 0; i < 1'000; ++i) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
  nvtxRangePushA("left open");
  std::puts("ready");
  std::fflush(stdout);
  if (argc <= 1)
    for (;;) pause();
  int signal = 0;
  sigwait(&ending, &signal);
  nvtxRangePop();
  return std::atoi(argv[1]);
}
