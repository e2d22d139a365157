// Forks by _Fork() while another thread is in the program's own allocator, whose lock the child can't get. The child makes a mark, which takes no memory
// alone. Exits with 3 if the child ended.
#include <nvtx3/nvToolsExt.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <thread>

extern "C" void* __libc_calloc(std::size_t count, std::size_t size);

namespace {

std::mutex allocator;
std::atomic<bool> is_held{false};
std::atomic<bool> is_done{false};

}  // namespace

extern "C" void* calloc(std::size_t count, std::size_t size) noexcept {
  const std::lock_guard lock(allocator);
  return __libc_calloc(count, size);
}

int main() {
  nvtxMarkA("begin");
  std::thread other([] {
    const std::lock_guard lock(allocator);
    is_held = true;
    while (!is_done) usleep(1'000);
  });
  while (!is_held) usleep(1'000);
  const pid_t child = _Fork();
  if (child == 0) {
    nvtxMarkA("child");
    _exit(0);
  }
  constexpr int kLooks = 1000;  // each of 10 ms
  int status = 0;
  pid_t ended = 0;
  for (int look = 0; look < kLooks && ended == 0; ++look) {
    ended = waitpid(child, &status, WNOHANG);
    usleep(10'000);
  }
  if (ended == 0) {
    std::puts("the child waits for ever");
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  is_done = true;
  other.join();
  return status == 0 ? 3 : 1;
}
