// Loads and unloads a library again and again, a life each: three ranges "life N" from within, N = 1, 2, and so on. Says "ready" before the first, and
// behind the last, once SIGTERM has come, how many ranges it made.
//
// nvtx_reloading LIBRARY: one of nvtx_life.cpp. One that is named without its path is found by this program's RUNPATH.
#include <csignal>
#include <cstdio>

#include <dlfcn.h>

namespace {
volatile std::sig_atomic_t is_asked_to_end = 0;
}

int main(int count, char** arguments) {
  if (count < 2) return 2;
  std::signal(SIGTERM, [](int) { is_asked_to_end = 1; });
  std::puts("ready");
  std::fflush(stdout);
  long ranges = 0;
  for (long life = 1; is_asked_to_end == 0; ++life) {
    void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 3;
    const auto one_range = reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"));
    for (int i = 0; i < 3; ++i, ++ranges) one_range(life);
    dlclose(library);
  }
  std::printf("%ld ranges\n", ranges);
  return 0;
}
