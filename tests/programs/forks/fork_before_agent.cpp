// Forks while the first NVTX call of another thread looks for the agent, and has not called it yet: NVTX's state says that somebody sets it up. Exits with 0
// if the child, which makes a range, ended as well.
//
//   fork_before_agent [bare]   with the agent in NVTX_INJECTION64_PATH, and in LD_PRELOAD or not: then it has set NVTX up before, and nobody looks for it
//
// bare: only by the system call, of which the C library is not told.
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include "awaited_child.h"

namespace {

constexpr unsigned kMicrosecondsOfLooking = 200'000;

std::atomic<bool> looks{false};
std::atomic<bool> is_made{false};
thread_local bool is_first = false;

}  // namespace

// NVTX's code is part of this program and calls this function: the thread is stopped here, when it is about to load the agent.
extern "C" char* getenv(const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  if (is_first && !looks.exchange(true)) usleep(kMicrosecondsOfLooking);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return nullptr;
}

int main(int count, char**) {
  const bool is_bare = count > 1;
  std::thread first([] {
    is_first = true;
    nvtxRangePushA("first");
    nvtxRangePop();
    is_made = true;
  });
  while (!looks && !is_made) usleep(100);

  const auto child = is_bare ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)) : fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    _exit(0);
  }
  const int status = await_child(child, 10);
  first.join();
  return status == 0 ? 0 : 1;
}
