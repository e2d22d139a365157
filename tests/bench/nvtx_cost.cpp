// The cost of an NVTX push and pop, as seen by the program. Use: nvtx_cost [PAIRS]. Run it alone, under `lanescope profile`, and under `lanescope profile
// --arm`; prints the best of ten rounds with a pause between them, so that a ring never fills.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <nvtx3/nvToolsExt.h>

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? std::atol(argv[1]) : 20'000;
  double best = 1e9;
  nvtxRangePushA("first call, which initialises NVTX");
  nvtxRangePop();
  for (int round = 0; round < 10; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < pairs; ++i) {
      nvtxRangePushA("range");
      nvtxRangePop();
    }
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(pairs));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::printf("ns per push/pop pair: %.1f\n", best);
}
