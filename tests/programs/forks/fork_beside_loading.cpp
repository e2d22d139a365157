// Forks unannounced while a library is being loaded, whose constructor waits for the child, or makes it. The child makes a range in a library that made none
// before: NVTX would load its tool there, but the lock of the loader belongs for ever to a thread that the child does not have, or to this thread under its
// number in the parent. Exits with 3 if the child ended with code 0.
//
//   fork_beside_loading LIBRARY FORKING_LIBRARY beside|handler _Fork|clone marked|unmarked    LIBRARY: one of nvtx_life.cpp; FORKING_LIBRARY:
//   forking_library.cpp
//     LIBRARY -: the one that is being loaded
//     beside: another thread forks; handler: a signal handler on the thread that loads; marked: this program has made a mark before
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "awaited_child.h"

namespace {

sem_t is_loading;
sem_t is_done;
std::string place;
std::string how;
void (*one_range)(long) = nullptr;
bool is_good = false;

void fork_and_wait(int) {
  const pid_t child = how == "_Fork" ? _Fork() : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    one_range(1);
    _exit(0);
  }
  is_good = await_child(child, 30) == 0;
}

}  // namespace

// Called by the constructor of the library.
extern "C" __attribute__((visibility("default"))) void while_loading(void (*range_of_library)(long)) {
  if (one_range == nullptr) one_range = range_of_library;
  if (place == "handler") {
    std::raise(SIGUSR1);
  } else {
    sem_post(&is_loading);
    sem_wait(&is_done);
  }
}

int main(int count, char** arguments) {
  if (count < 6) return 2;
  if (arguments[1] != std::string("-")) {
    void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 2;
    one_range = reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"));
  }
  place = arguments[3];
  how = arguments[4];
  if (arguments[5] == std::string("marked")) nvtxMarkA("begin");
  sem_init(&is_loading, 0, 0);
  sem_init(&is_done, 0, 0);
  std::signal(SIGUSR1, fork_and_wait);
  std::thread loading([&] { is_good = dlopen(arguments[2], RTLD_NOW) != nullptr && is_good; });
  if (place == "beside") {
    sem_wait(&is_loading);
    fork_and_wait(0);
    sem_post(&is_done);
  }
  loading.join();
  return is_good ? 3 : 1;
}
