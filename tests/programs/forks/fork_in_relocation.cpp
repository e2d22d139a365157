// Forks while the loader, on another thread, fills in the agent's addresses for the very first NVTX call. The child makes a range in a library. Exits with 0
// if the child has ended as well.
//
//   fork_in_relocation LIBRARY    one of nvtx_life.cpp; with the agent in NVTX_INJECTION64_PATH
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace {

std::atomic<bool> is_about_to_load{false};
std::atomic<bool> is_held{false};
std::atomic<bool> is_free{false};

}  // namespace

extern "C" int page_size() { return static_cast<int>(sysconf(_SC_PAGESIZE)); }

// The agent needs the function, and the loader calls this one to choose it.
extern "C" __attribute__((no_sanitize("all"))) int (*choose_page_size())() {
  if (is_about_to_load && !is_held.exchange(true))
    while (!is_free) usleep(100);
  return page_size;
}
extern "C" int getpagesize() noexcept __attribute__((ifunc("choose_page_size")));

int main(int count, char** arguments) {
  void* const library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  const auto one_range = reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"));
  is_about_to_load = true;
  std::thread first([] {
    nvtxRangePushA("first");
    nvtxRangePop();
  });
  while (!is_held) usleep(100);
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kSeconds = 10;
    alarm(kSeconds);
    one_range(1);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  is_free = true;
  first.join();
  return status == 0 ? 0 : 1;
}
