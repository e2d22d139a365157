// A target that ends in the way that it is told, after 100 ranges "step" and the line "ready".
//
// endings exit | _exit | quick_exit | abort | segv | term | kill | exec | children N | forkserver | double-fork | daemon
// segv: with a handler of its own that says "handled" and lets the default action follow. exec: becomes `endings exit`. children: N forked
// processes, one after the other, each with 100 ranges of its own. Where it lives to return, it returns 7.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kCode = 7;

void work() {
  for (int i = 0; i < 100; ++i) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
}

void on_fault(int signal) {
  constexpr char kText[] = "handled\n";
  [[maybe_unused]] const ssize_t ignored = write(STDOUT_FILENO, kText, sizeof(kText) - 1);
  std::signal(signal, SIG_DFL);
}

void child_that_works() {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

[[noreturn]] void work_and_exit(int code) {
  work();
  _exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "exit";
  work();
  std::puts("ready");
  std::fflush(stdout);
  if (how == "_exit") _exit(kCode);
  if (how == "quick_exit") std::quick_exit(kCode);
  if (how == "abort") std::abort();
  if (how == "segv") {
    std::signal(SIGSEGV, on_fault);
    *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
  }
  if (how == "term") std::raise(SIGTERM);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "exec") execl("/proc/self/exe", argv[0], "exit", static_cast<char*>(nullptr));
  if (how == "children")
    for (int i = std::atoi(argv[2]); i > 0; --i) child_that_works();
  if (how == "forkserver") {  // a child that does nothing but fork workers
    const pid_t server = fork();
    if (server == 0) {
      for (int i = 0; i < 5; ++i) child_that_works();
      _exit(0);
    }
    waitpid(server, nullptr, 0);
  }
  if (how == "double-fork" && fork() == 0) {
    if (fork() == 0) work_and_exit(0);
    _exit(0);
  }
  if (how == "daemon" && fork() == 0) {
    setsid();
    work_and_exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  return kCode;
}
