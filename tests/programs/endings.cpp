// A target that ends in the requested way, after 100 ranges "step" and the line "ready".
//
// endings exit | _exit | quick_exit | abort | segv | chained | fault | bus | ill | fpe | fault-thread | overflow | survives | refused | hog
// |
//         term | kill | exec | children N | brief | forkserver | double-fork | daemon
// segv: with a handler of its own that prints "handled" and then lets the default action happen; chained: the handler was set before the first range. fault:
// without one, at the address 16; bus, ill, fpe: the other signals that an instruction may raise; fault-thread: on another thread, "culprit", after a range
// of its own; overflow: of the stack. survives: its handler jumps out of five faults, then it continues. refused: it gets no more memory, and terminates
// because of that. hog: it takes memory until the kernel ends it. exec: becomes `endings exit`. children: N forked processes, one after the other, each with
// 100 ranges of its own; brief: 200 that end while a thread of theirs makes its first range. If it lives long enough to return, it returns 7.
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

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

// Writes to address 16, as for a member of a null pointer.
void fault() {
  volatile std::uintptr_t address = 16;
  *reinterpret_cast<volatile int*>(address) = 1;
}

// Writes to a page after the end of a file.
void fault_behind_file() {
  char name[] = "/tmp/lanescope-endings-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  auto* page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  page[0] = 1;
}

void divide_by_zero() {
  volatile int zero = 0;
  zero = 7 / zero;
}

void fault_on_thread() {
  std::thread([] {
    nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "culprit");
    nvtxRangePushA("culprit's");
    fault();
  }).join();
}

int overflow(int depth) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + page[0];
}

sigjmp_buf before_fault;
void survive_faults() {
  std::signal(SIGSEGV, [](int) { siglongjmp(before_fault, 1); });
  static int faults = 0;  // static, because a jump may undo changes on the stack
  while (faults++ < 5)
    if (sigsetjmp(before_fault, 1) == 0) fault();
}

// Allocates and touches memory, in pieces of 1 MiB.
void take_memory() {
  std::vector<char*> pieces;
  for (;;) {
    pieces.push_back(new char[1 << 20]);
    std::memset(pieces.back(), 1, 1 << 20);
  }
}

void run_out_of_memory() {
  const rlimit limit{256 << 20, 256 << 20};
  setrlimit(RLIMIT_AS, &limit);
  take_memory();
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
  if (how == "chained") std::signal(SIGSEGV, on_fault);
  work();
  std::puts("ready");
  std::fflush(stdout);
  if (how == "_exit") _exit(kCode);
  if (how == "quick_exit") std::quick_exit(kCode);
  if (how == "abort") std::abort();
  if (how == "segv") std::signal(SIGSEGV, on_fault);
  if (how == "segv" || how == "chained" || how == "fault") fault();
  if (how == "bus") fault_behind_file();
  if (how == "ill") __builtin_trap();
  if (how == "fpe") divide_by_zero();
  if (how == "fault-thread") fault_on_thread();
  if (how == "overflow") return overflow(0);
  if (how == "survives") survive_faults();
  if (how == "refused") run_out_of_memory();
  if (how == "hog") take_memory();
  if (how == "term") std::raise(SIGTERM);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "exec") execl("/proc/self/exe", argv[0], "exit", static_cast<char*>(nullptr));
  if (how == "children")
    for (int i = std::atoi(argv[2]); i > 0; --i) child_that_works();
  if (how == "brief") {  // children that are gone before their thread's first range has been answered
    for (int i = 0; i < 200; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        std::thread(work).detach();
        usleep(300);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
  }
  if (how == "forkserver") {  // a child that only forks workers
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
