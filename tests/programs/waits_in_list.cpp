// One thread visits the list of loaded files COUNT times, and waits there each time for another thread, which loads and unloads a library that is already
// loaded, or forks a child. Prints "ready" before the first time, and waits for input or its end. Exits with 3, or SIGALRM ends it if it hangs for half a
// minute.
//
//   waits_in_list LIBRARY COUNT load|fork
#include <dlfcn.h>
#include <link.h>
#include <nvtx3/nvToolsExt.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

sem_t is_in_list;
sem_t is_done;

void load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || dlsym(library, "one_range") == nullptr) std::_Exit(1);
  dlclose(library);
}

void fork_child() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) std::_Exit(1);
}

int wait_in_list(dl_phdr_info*, std::size_t, void*) {
  sem_post(&is_in_list);
  sem_wait(&is_done);
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  constexpr unsigned kSeconds = 30;
  if (count != 4) return 2;
  const char* const library = arguments[1];
  const int visits = std::atoi(arguments[2]);
  const bool is_to_fork = std::string(arguments[3]) == "fork";
  nvtxMarkA("begin");
  if (dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) return 2;
  sem_init(&is_in_list, 0, 0);
  sem_init(&is_done, 0, 0);
  alarm(kSeconds);
  std::puts("ready");
  std::fflush(stdout);
  std::getchar();
  std::thread other([&] {
    for (int i = 0; i < visits; ++i) {
      sem_wait(&is_in_list);
      is_to_fork ? fork_child() : load(library);
      sem_post(&is_done);
    }
  });
  for (int i = 0; i < visits; ++i) {
    dl_iterate_phdr(wait_in_list, nullptr);
    usleep(1'000);
  }
  other.join();
  return 3;
}
