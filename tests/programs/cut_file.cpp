// Loads a copy of a library, truncates the copy to zero bytes, as an update in place does, and loads and unloads another library COUNT times, 10 ms each. It
// calls nothing of the first library, so that the truncation does not affect it. Prints "ready" before the first time; exits with 3.
//
//   cut_file LIBRARY COUNT [handles|holds]: with a handler of SIGBUS, which exits with 77, or with all signals held
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string way = count > 3 ? arguments[3] : "";
  const std::filesystem::path copy = std::filesystem::temp_directory_path() / ("lanescope_cut_file." + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(arguments[1], copy);
  if (dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return 2;
  if (way == "handles") std::signal(SIGBUS, [](int) { _exit(77); });
  if (way == "holds") {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
  }
  std::filesystem::resize_file(copy, 0);
  std::filesystem::remove(copy);
  std::puts("ready");
  std::fflush(stdout);
  for (int i = 0; i < std::atoi(arguments[2]); ++i) {
    void* const other = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);
    if (other == nullptr) return 2;
    dlclose(other);
    usleep(10'000);
  }
  _exit(3);  // exit() would call the library's destructors
}
