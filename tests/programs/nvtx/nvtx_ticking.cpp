// A target that works steadily: one range "tick" a millisecond, a given number of times, or until a signal ends it. Prints "ready" before the first.
//
// nvtx_ticking [COUNT [CODE]]: with an exit code, SIGTERM makes it exit with that code after the current range, as training scripts do.
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {
volatile std::sig_atomic_t is_asked_to_end = 0;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : -1;
  if (argc > 2) std::signal(SIGTERM, [](int) { is_asked_to_end = 1; });
  std::puts("ready");
  std::fflush(stdout);
  for (long i = 0; i != count; ++i) {
    nvtxRangePushA("tick");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    nvtxRangePop();
    if (is_asked_to_end != 0) return std::atoi(argv[2]);
  }
  return 0;
}
