// A target that works steadily: one range "tick" a millisecond, as often as asked, or until a signal ends it. Says "ready" before the
// first.
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : -1;
  std::puts("ready");
  std::fflush(stdout);
  for (long i = 0; i != count; ++i) {
    nvtxRangePushA("tick");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    nvtxRangePop();
  }
  return 0;
}
