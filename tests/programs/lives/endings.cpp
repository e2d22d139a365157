// Ways of ending: by exits, signals, faults, threads, and in the middle of work.
#include "lives.h"

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace lives {
namespace {

int exits() { return number(kCode); }
int leaves() { _exit(number(kCode)); }
int leaves_group() { return static_cast<int>(syscall(SYS_exit_group, number(kCode))); }
int main_thread_leaves() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr, [](void*) -> void* { return steps(100), nullptr; }, nullptr);
  pthread_exit(nullptr);
}
int dies() {
  const int signal = number(SIGTERM);
  std::signal(signal, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  raise(signal);
  return 99;
}

// Its handler jumps out of what was interrupted, most often in the middle of a mark. Alarms may come late, so that the number of marks is limited to what the
// recorder's memory holds.
sigjmp_buf before_alarm;
int jumps_out_of_handlers() {
  constexpr int kJumps = 2'000;
  constexpr int kMostMarks = 2'000;  // after each jump
  struct sigaction action {};
  action.sa_handler = [](int) { siglongjmp(before_alarm, 1); };
  sigaction(SIGALRM, &action, nullptr);
  static volatile int jumps = 0;
  const itimerval soon{{}, {0, 50}};
  if (sigsetjmp(before_alarm, 1) != 0) jumps = jumps + 1;
  if (jumps < kJumps) {
    setitimer(ITIMER_REAL, &soon, nullptr);
    for (int i = 0; i < kMostMarks; ++i) nvtxMarkA("other");
    for (;;) pause();
  }
  steps(100);
  return kCode;
}

// Makes long calls on a stack at whose end no caller stands, as greenlet and some coroutines do.
ucontext_t first_stack;
ucontext_t other_stack;
int waits_on_stack_without_caller() {
  static char memory[1 << 16];
  static constexpr long kNowhere = 1;
  getcontext(&other_stack);
  other_stack.uc_stack.ss_sp = memory;
  other_stack.uc_stack.ss_size = sizeof(memory);
  const auto run = [] {
    for (int i = 0; i < 20; ++i) {
      steps(5);
      usleep(500);
    }
    setcontext(&first_stack);
  };
  makecontext(&other_stack, run, 0);
#if defined(__x86_64__)
  *reinterpret_cast<long*>(other_stack.uc_mcontext.gregs[REG_RSP]) = kNowhere;
#elif defined(__aarch64__)
  other_stack.uc_mcontext.regs[30] = kNowhere;
#endif
  swapcontext(&first_stack, &other_stack);
  return kCode;
}

int leaves_quickly() {
  std::at_quick_exit([] {
    steps(50);
    static_cast<void>(write(STDOUT_FILENO, "quickly\n", 8));
  });
  std::quick_exit(kCode);
}
int aborts() { std::abort(); }
// Prints the reported actions of the signals that end programs, saves and restores them in every possible way, and installs a crash reporter only if there is
// no handler, as runtimes of languages do.
void say(const char* what, int signal, const struct sigaction& action, void (*own)(int)) {
  const char* const who = action.sa_handler == SIG_DFL ? "default" : action.sa_handler == SIG_IGN ? "ignored" : action.sa_handler == own ? "own" : "another's";
  std::printf("%s %d %s %x\n", what, signal, who,
              static_cast<unsigned>(action.sa_handler == SIG_DFL ? 0 : action.sa_flags & ~0x04000000));  // the flag 0x04000000 is the C library's own
}
void report_crash(int signal) {
  static_cast<void>(write(STDOUT_FILENO, "reported\n", 9));
  std::signal(signal, SIG_DFL);
  raise(signal);
}
int looks_at_handlers() {
  constexpr int kAsked[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGUSR1};
  using Handler = void (*)(int);
  for (const int signal : kAsked) {
    const auto now = [&](const char* what) {
      struct sigaction action {};
      must(sigaction(signal, nullptr, &action) == 0, "sigaction");
      say(what, signal, action, report_crash);
    };
    now("at first");
    struct sigaction own {};
    struct sigaction before {};
    own.sa_handler = report_crash;
    own.sa_flags = SA_NODEFER;
    sigaction(signal, &own, &before);
    say("before", signal, before, report_crash);
    now("set");
    sigaction(signal, &before, &own);
    say("own", signal, own, report_crash);
    now("restored");
    for (Handler (*const set)(int, Handler) : {static_cast<Handler (*)(int, Handler)>(::signal), static_cast<Handler (*)(int, Handler)>(sysv_signal)}) {
      const Handler first = set(signal, report_crash);
      const Handler second = set(signal, first);
      std::printf("signal %d %d %d\n", signal, first == SIG_DFL, second == report_crash);
      now("by signal");
    }
  }
  std::fflush(stdout);
  for (const int signal : {SIGABRT, SIGSEGV}) {
    const pid_t child = fork();
    if (child == 0) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      if (action.sa_handler == SIG_DFL) {
        action.sa_handler = report_crash;
        sigaction(signal, &action, nullptr);
      }
      raise(signal);
      _exit(0);
    }
    std::printf("a child ended with %d\n", code_of(child));
    std::fflush(stdout);
  }
  steps(100);
  std::abort();
}
int faults() {
  volatile std::uintptr_t address = 16;
  *reinterpret_cast<volatile int*>(address) = 1;
  return 98;
}
int faults_on_thread() {
  std::thread([] {
    steps(50);
    faults();
  }).join();
  return 98;
}

sigjmp_buf before_overflow;
[[gnu::noinline]] int overflow(int depth) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + page[0];
}
int survives_overflows() {
  std::vector<char> room(1 << 16);
  stack_t stack{};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  must(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  struct sigaction action {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int) {
    steps(1);
    siglongjmp(before_overflow, 1);
  };
  sigaction(SIGSEGV, &action, nullptr);
  for (static int overflows = 0; overflows < 5; ++overflows)
    if (sigsetjmp(before_overflow, 1) == 0) overflow(0);
  return kCode;
}

// Makes ranges, and a child, after the end of main().
struct MakesStepsAtItsEnd {
  ~MakesStepsAtItsEnd() { steps(10); }
};
int ends_slowly() {
  std::atexit([] {
    steps(10);
    if (fork() == 0) {
      steps(10);
      _exit(0);
    }
    wait(nullptr);
  });
  static const MakesStepsAtItsEnd at_exit;
  std::thread([] {
    thread_local const MakesStepsAtItsEnd at_thread_end;
    static_cast<void>(&at_thread_end);
    steps(10);
  }).join();
  std::exit(kCode);
}
int another_thread_ends_it() {
  std::thread([] {
    steps(50);
    std::exit(kCode);
  }).detach();
  for (;;) pause();
}
int another_thread_becomes_another() {
  std::thread([] { become("exit", "9"); }).detach();
  for (;;) pause();
}
int first_thread_leaves() {
  std::thread([] {
    usleep(50'000);
    steps(50);
    _exit(kCode);
  }).detach();
  syscall(SYS_exit, 0);
  return 98;
}
// Threads are in the middle of ranges and calls when it ends.
int ends_among_threads() {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 6; ++k)
        std::thread([] {
          for (;;) {
            nvtxRangePushA("other");
            usleep(1);
            nvtxRangePop();
          }
        }).detach();
      usleep(static_cast<useconds_t>(i * 100));
      std::exit(kCode);
    }
    must(code_of(child) == kCode, "the end of a child");
  }
  return kCode;
}
int cancels_threads() {
  int cancelled = 0;
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    must(pthread_create(
             &thread, nullptr,
             [](void*) -> void* {
               steps(1);
               for (;;) sleep(100);
             },
             nullptr) == 0,
         "a thread");
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED ? 1 : 0;
  }
  std::printf("%d cancelled\n", cancelled);
  return kCode;
}

}  // namespace

std::vector<Way> endings() {
  return {
      {"exit", exits},
      {"_exit", leaves},
      {"exit_group", leaves_group},
      {"quick_exit", leaves_quickly},
      {"abort", aborts},
      {"handlers", looks_at_handlers},
      {"fault", faults},
      {"fault-on-thread", faults_on_thread},
      {"overflows", survives_overflows},
      {"jumps", jumps_out_of_handlers},
      {"no-caller", waits_on_stack_without_caller},
      {"slow-end", ends_slowly},
      {"exit-on-thread", another_thread_ends_it},
      {"exec-on-thread", another_thread_becomes_another},
      {"first-thread-exits", first_thread_leaves},
      {"exit-among-threads", ends_among_threads},
      {"cancel", cancels_threads},
      {"pthread_exit", main_thread_leaves},
      {"signal", dies},
  };
}

}  // namespace lives
