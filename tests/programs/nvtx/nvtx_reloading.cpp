// Loads and unloads a library repeatedly. Each life has three ranges "life N" from within it, N = 1, 2, and so on. Prints "ready" before the first, and the
// number of ranges after the last, once SIGTERM has come. Meanwhile a thread looks up names all the time, as programs may.
//
// nvtx_reloading LIBRARY: one of nvtx_life.cpp. A library that is named without a path is found by this program's RUNPATH.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include <dlfcn.h>

namespace {
volatile std::sig_atomic_t is_asked_to_end = 0;
}

int main(int count, char** arguments) {
  if (count < 2) return 2;
  std::signal(SIGTERM, [](int) { is_asked_to_end = 1; });
  std::puts("ready");
  std::fflush(stdout);
  std::thread other([] {
    for (; is_asked_to_end == 0; std::this_thread::sleep_for(std::chrono::microseconds(50))) dlsym(RTLD_DEFAULT, "getpid");
  });
  long ranges = 0;
  for (long life = 1; is_asked_to_end == 0; ++life) {
    void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 3;
    const auto one_range = reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"));
    for (int i = 0; i < 3; ++i, ++ranges) one_range(life);
    dlclose(library);
  }
  other.join();
  std::printf("%ld ranges\n", ranges);
  return 0;
}
