// A thread repeatedly loads a library, makes a range in it, and unloads it, while another thread forks. Prints the number of children, and exits with 1 if
// one of them did not end by itself.
//
//   fork_beside_unloading LIBRARY SECONDS: one of nvtx_life.cpp
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

std::atomic<bool> is_over{false};

void load_and_unload(const char* path) {
  while (!is_over) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::_Exit(2);
    reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"))(1);
    dlclose(library);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::thread loader(load_and_unload, arguments[1]);
  int children = 0;
  bool is_well = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(arguments[2]));
  for (; is_well && std::chrono::steady_clock::now() < end; ++children) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    is_well = waitpid(child, &status, 0) == child && status == 0;
  }
  is_over = true;
  loader.join();
  std::printf("%d children\n", children);
  return is_well ? 0 : 1;
}
