// A target whose signal handler makes NVTX calls, and which gets the signal in its first NVTX call, at the moment at which the agent is about to be loaded.
#include <nvtx3/nvToolsExt.h>

#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

namespace {

volatile std::sig_atomic_t handled = 0;

void range(const char* name) {
  nvtxRangePushA(name);
  nvtxRangePop();
}

}  // namespace

// Stands before the C library's function, also for what NVTX has loaded.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) noexcept {
  static const auto next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  if (file != nullptr && (mode & RTLD_NOLOAD) == 0 && std::string_view(file).ends_with("/liblanescope-agent.so")) raise(SIGUSR1);
  return next(file, mode);
}

int main() {
  alarm(30);  // ends a program that waits for itself
  std::signal(SIGUSR1, [](int) {
    range("handled");
    handled = handled + 1;
  });
  range("first");
  range("second");
  return handled == 1 ? 0 : 1;
}
