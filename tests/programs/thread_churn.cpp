// Short-lived threads: CREATORS threads start and join COUNT threads each, one after the other. Each of these makes one call into the C library and one NVTX
// range. Prints the number of threads.
//
//   thread_churn [CREATORS [COUNT]]
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void live() {
  nvtxRangePushA("short life");
  usleep(2);
  nvtxRangePop();
}

}  // namespace

int main(int count, char** arguments) {
  const int creators = count > 1 ? std::atoi(arguments[1]) : 8;
  const int lives = count > 2 ? std::atoi(arguments[2]) : 3'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < creators; ++i)
    threads.emplace_back([lives] {
      for (int life = 0; life < lives; ++life) std::thread(live).join();
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d threads\n", creators * lives);
  return 0;
}
