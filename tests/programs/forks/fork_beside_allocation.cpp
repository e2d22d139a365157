// Forks by _Fork() while another thread is in the program's own allocator, whose lock the child can't get. The child makes a mark, which takes no memory
// alone. Exits with 3 if the child ended.
#include <nvtx3/nvToolsExt.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>

#include "awaited_child.h"

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
  const int status = await_child(child, 10);
  is_done = true;
  other.join();
  return status == 0 ? 3 : 1;
}
