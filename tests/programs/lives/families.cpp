// Ways with children: forks, vforks, exec, threads, daemons, orphans.
#include "lives.h"

#include <nvtx3/nvToolsExt.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace lives {
namespace {

int has_children() {
  for (int i = number(10); i > 0; --i)
    if (fork() == 0) {
      steps(10);
      _exit(0);
    }
  wait_for_all();
  return kCode;
}
// Each is killed when it starts to make ranges, or a little later.
int has_killed_children() {
  for (int i = 0; i < number(100); ++i) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) steps(10);
    usleep(static_cast<useconds_t>(1'000 + i * 37 % 3'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return kCode;
}
int is_a_tree() {
  for (int level = number(5); level > 0; --level) fork();
  steps(10);
  wait_for_all();
  return kCode;
}
int has_threads() {
  std::vector<std::thread> threads;
  for (int i = number(50); i > 0; --i) threads.emplace_back([] { steps(100); });
  for (std::thread& thread : threads) thread.join();
  return kCode;
}
int forks_among_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 20; ++k) std::thread([] { steps(1); }).join();
    });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps(1);
      _exit(0);
    }
    code_of(child);
  }
  for (std::thread& thread : threads) thread.join();
  return kCode;
}

int becomes_others() {
  const int left = number(10);
  if (left > 0) become("exec", std::to_string(left - 1).c_str());
  return kCode;
}

// Does as programs do that unpack themselves, into a folder "unpacked": at the second start the folder is gone.
int starts_anew_without_its_folder() {
  constexpr useconds_t kSeen = 300'000;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  if (!std::filesystem::exists(own)) return usleep(kSeen), kCode;
  must(own.parent_path().filename() == "unpacked" && unlink(own.c_str()) == 0 && rmdir(own.parent_path().c_str()) == 0, "a folder of its own, unpacked");
  become("unpacked");
}
int fails_to_become() {
  execl("/there/is/no/such/program", "x", nullptr);
  steps(100);
  return kCode;
}
int vforks_and_becomes() {
  const pid_t child = vfork();
  if (child == 0) become("exit", "9");
  const int code = code_of(child);
  steps(100);
  return code;
}
// A separate function, because a child of a vfork may change what its caller keeps in registers.
[[gnu::noinline]] void vfork_and_leave() {
  const pid_t child = vfork();
  if (child == 0) _exit(3);
  code_of(child);
}
int vforks_and_leaves() {
  for (int i = 0; i < 50; ++i) vfork_and_leave();
  steps(100);
  return kCode;
}
// The very first NVTX call is made by the child of a vfork.
[[gnu::noinline]] void vfork_and_mark() {
  const pid_t child = vfork();
  if (child == 0) {
    nvtxMarkA("other");
    _exit(3);
  }
  must(code_of(child) == 3, "the child of a vfork");
}
int begins_in_a_vfork() {
  vfork_and_mark();
  steps(100);
  return child_with_steps(fork);
}
int spawns() {
  std::string way = "exit";
  std::string code = "9";
  char* argv[] = {arguments[0], way.data(), code.data(), nullptr};
  pid_t child = 0;
  must(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv, environ) == 0, "posix_spawn");
  return code_of(child);
}
int clones_within_its_memory() {
  constexpr std::size_t kStack = 1 << 16;
  auto* stack = static_cast<char*>(mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const pid_t child = clone([](void*) { return 5; }, stack + kStack, CLONE_VM | SIGCHLD, nullptr);
  const int code = code_of(child);
  steps(100);
  return code;
}
int forks_by_the_kernel() {
  return child_with_steps([] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)); });
}
int forks_without_handlers() {
  return child_with_steps([] { return _Fork(); });
}

int becomes_a_daemon() {
  must(daemon(1, 0) == 0, "daemon");
  usleep(300'000);
  steps(100);
  return 0;
}
int becomes_a_daemon_without_descriptors() {
  must(daemon(1, 0) == 0, "daemon");
  must(syscall(SYS_close_range, 0, ~0U, 0) == 0, "close_range");
  usleep(300'000);
  steps(100);
  return 0;
}
int leaves_its_session() {
  if (fork() != 0) _exit(1);
  setsid();
  usleep(100'000);
  steps(100);
  return 0;
}
int leaves_an_orphan() {
  if (fork() == 0) {
    usleep(200'000);
    steps(100);
    _exit(0);
  }
  return kCode;
}
int takes_orphans_in() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int i = 0; i < 5; ++i)
    if (fork() == 0) {
      if (fork() == 0) {
        usleep(10'000);
        steps(10);
        _exit(i);
      }
      _exit(50);
    }
  int sum = 0;
  for (int status = 0; wait(&status) > 0;) sum += WEXITSTATUS(status);
  std::printf("ends add up to %d\n", sum);
  return kCode;
}
int forks_in_handlers() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    const pid_t child = fork();
    if (child == 0) {
      steps(10);
      _exit(5);
    }
    must(code_of(child) == 5, "the child of a handler");
  };
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 10; ++i) raise(SIGUSR1);
  return kCode;
}
int leaves_a_sleeper() {
  if (fork() == 0) {
    for (int descriptor = 0; descriptor < 3; ++descriptor) close(descriptor);
    setsid();
    execlp("sleep", "sleep", "20", nullptr);
    _exit(98);
  }
  return kCode;
}

}  // namespace

std::vector<Way> families() {
  return {
      {"children", has_children},
      {"tree", is_a_tree},
      {"threads", has_threads},
      {"forks-among-threads", forks_among_threads},
      {"exec", becomes_others},
      {"exec-fails", fails_to_become},
      {"unpacked", starts_anew_without_its_folder},
      {"vfork-exec", vforks_and_becomes},
      {"vfork-exit", vforks_and_leaves},
      {"vfork-first", begins_in_a_vfork, Begin::kWithItsWay},
      {"spawn", spawns},
      {"clone-vm", clones_within_its_memory},
      {"killed-children", has_killed_children},
      {"clone", forks_by_the_kernel},
      {"_Fork", forks_without_handlers},
      {"daemon", becomes_a_daemon},
      {"daemon-without-descriptors", becomes_a_daemon_without_descriptors},
      {"setsid", leaves_its_session},
      {"orphan", leaves_an_orphan},
      {"sleeper", leaves_a_sleeper},
      {"subreaper", takes_orphans_in},
      {"forks-in-handlers", forks_in_handlers},
  };
}

}  // namespace lives
