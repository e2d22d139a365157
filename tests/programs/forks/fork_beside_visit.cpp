// Forks while the list of loaded files belongs to a callback of dl_iterate_phdr(): another thread waits in one, or this thread has left one by a jump. The
// child makes ranges, the first in a library that made none before, and forks a child that does the same. Exits with 3 if both ended.
//
//   fork_beside_visit LIBRARY stays|jumped fork|_Fork|clone    LIBRARY: one of nvtx_life.cpp
#include <dlfcn.h>
#include <link.h>
#include <nvtx3/nvToolsExt.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <string>
#include <thread>

#include "awaited_child.h"

namespace {

sem_t is_in_list;
sem_t is_done;
std::jmp_buf before_visit;

int stay(dl_phdr_info*, std::size_t, void*) {
  sem_post(&is_in_list);
  sem_wait(&is_done);
  return 1;
}

int jump(dl_phdr_info*, std::size_t, void*) { std::longjmp(before_visit, 1); }

pid_t fork_by(const std::string& how) {
  if (how == "fork") return fork();
  if (how == "_Fork") return _Fork();
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

int main(int count, char** arguments) {
  void* const library = count > 3 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  const auto one_range = reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"));
  nvtxMarkA("begin");
  sem_init(&is_in_list, 0, 0);
  sem_init(&is_done, 0, 0);
  std::thread other;
  if (arguments[2] == std::string("stays")) {
    other = std::thread([] { dl_iterate_phdr(stay, nullptr); });
    sem_wait(&is_in_list);
  } else if (setjmp(before_visit) == 0) {
    dl_iterate_phdr(jump, nullptr);
  }
  const pid_t child = fork_by(arguments[3]);
  if (child == 0) {
    one_range(1);
    nvtxMarkA("child");
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      nvtxMarkA("grandchild");
      one_range(2);
      _exit(0);
    }
    _exit(await_child(grandchild, 10) == 0 ? 0 : 1);
  }
  const bool is_good = await_child(child, 10) == 0;
  sem_post(&is_done);
  if (other.joinable()) other.join();
  return is_good ? 3 : 1;
}
