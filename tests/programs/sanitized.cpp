// What a program does that is built with a sanitizer: 4 threads with 25 calls of usleep and 25 ranges each, and a forked child with 3 calls. Prints the
// child's exit code, and exits with 5.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

int main() {
  nvtxMarkA("begin");  // NVTX initialises itself in a way that the thread sanitizer can't see
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int call = 0; call < 25; ++call) {
        nvtxRangePushA("a range whose name is longer than a register of the processor");
        const auto memory = std::make_unique<std::vector<int>>(1'000, call);
        usleep(1'000);
        nvtxRangePop();
      }
    });
  for (std::thread& thread : threads) thread.join();
  const pid_t child = fork();
  if (child == 0) {
    for (int call = 0; call < 3; ++call) usleep(1'000);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  return 5;
}
