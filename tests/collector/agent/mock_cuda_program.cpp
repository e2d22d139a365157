// A CUDA program as the agent sees it: it loads CUDA_INJECTION64_PATH as libcuda does, works, and ends.
//
// mock_cuda_program KERNELS [HOW], where HOW says what it does, or how it ends:
// exit: returns from main. _exit: by _exit(7); _Exit and quick_exit likewise. kill: by SIGKILL; term, int, hup, abort, segv: by these signals. clean-term,
// clean-hup: by these signals, in a handler of its own that has restored the former action. hang: returns once it is told over its standard input. sleep:
// prints "running", and a signal ends it.
// faulted: once CUPTI has faulted, 100 kernels more; then it prints "unharmed". asked: prints how much is asked of CUPTI. captures N: N times 100 kernels
// between cudaProfilerStart and cudaProfilerStop, and KERNELS before each. memory: uses memory as mock_cupti.h says, and returns 4 if unified memory is not
// recorded. names: names what it uses, and continues as memory; MOCK_CUDA_LIBRARY is its libcuda. samples: it is sampled. reset: cudaDeviceReset at the end.
// waits: three waits of two milliseconds, in wait_in_mock_program. long: a kernel runs until SIGTERM comes; then it prints "done" and returns 5. graph:
// launches one, and waits for SIGTERM.
// execv and so on, exec-call and exec-at-call for the functions syscall(), or exec-bare for the instruction: in this way it becomes a shell that prints
// "first second" and the value of COLOR, and returns 3. exec-fails: tries to run what can't be run, and does everything again. unreadable: a record that
// nobody can read, an attempt to run what can't be run, and 100 kernels more; then it prints "unharmed". fork: a child does everything. fork-after: a child
// tries the same once more. late: it also works in an exit handler that was registered before CUDA.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mock_cupti.h"

extern "C" __attribute__((noinline)) void wait_in_mock_program(MockCuptiWait wait) {
  for (int i = 0; i < 3; ++i) wait();
  std::puts("waited");
}

namespace facts = lanescope::test::mock_cupti;

namespace {

constinit MockCuptiWork work_at_exit = nullptr;

void become_shell(const std::string& by) {
  constexpr const char* kShell = "/bin/sh";
  constexpr const char* kScript = "echo $0 $1 $COLOR; exit 3";
  const char* const arguments[] = {"sh", "-c", kScript, "first", "second", nullptr};
  const char* const variables[] = {"COLOR=green", nullptr};
  const auto texts = [](const char* const* list) { return const_cast<char* const*>(list); };
  const char* const nothing = nullptr;
  setenv("COLOR", "red", 1);
  if (by == "execve") execve(kShell, texts(arguments), texts(variables));
  if (by == "execv") execv(kShell, texts(arguments));
  if (by == "execvp") execvp("sh", texts(arguments));
  if (by == "execvpe") execvpe("sh", texts(arguments), texts(variables));
  if (by == "fexecve") fexecve(open(kShell, O_RDONLY | O_CLOEXEC), texts(arguments), texts(variables));
  if (by == "execl") execl(kShell, "sh", "-c", kScript, "first", "second", nothing);
  if (by == "execlp") execlp("sh", "sh", "-c", kScript, "first", "second", nothing);
  if (by == "execle") execle(kShell, "sh", "-c", kScript, "first", "second", nothing, variables);
  if (by == "exec-call") syscall(SYS_execve, kShell, arguments, variables);
  if (by == "exec-at-call") syscall(SYS_execveat, AT_FDCWD, kShell, arguments, variables, 0);
#if defined(__x86_64__)
  long number = SYS_execve;
  if (by == "exec-bare") asm volatile("syscall" : "+a"(number) : "D"(kShell), "S"(arguments), "d"(variables) : "rcx", "r11", "memory");
#endif
  if (by != "exec-fails") return;
  for (const char* none : {"/nowhere/sh", "no-such-program", "/etc/passwd"})
    if (execvp(none, texts(arguments)) != -1 || syscall(SYS_execve, none, arguments, variables) != -1) std::abort();
}

// Ends like handlers that have cleaned up and leave the end to the signal.
extern "C" void end_by_action(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  struct sigaction own {};
  if (sigaction(signal, &standard, &own) != 0 || own.sa_handler != end_by_action) std::abort();
  if (sigaction(signal, nullptr, &own) != 0 || own.sa_handler != SIG_DFL || (own.sa_flags & SA_SIGINFO) != 0) std::abort();
  std::raise(signal);
}
extern "C" void end_by_signal(int signal) {
  if (std::signal(signal, SIG_DFL) != end_by_signal || std::signal(signal, SIG_DFL) != SIG_DFL) std::abort();
  std::raise(signal);
}

// Only the child returns.
void go_on_in_child() {
  const pid_t child = fork();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

// Uses the functions of the runtime and those of the driver, plain and wide.
void name_resources() {
  const auto handle = []<typename Handle>(Handle*, const void* value) { return static_cast<Handle>(const_cast<void*>(value)); };
  nvtxNameCuDeviceA(0, "first of two");
  nvtxNameCudaDeviceW(0, L"left");
  nvtxNameCuContextA(handle(static_cast<CUcontext*>(nullptr), facts::kContextHandle), "main");
  nvtxNameCudaStreamA(handle(static_cast<cudaStream_t*>(nullptr), facts::kStreamHandle), "copies");
  nvtxNameCuEventA(handle(static_cast<CUevent*>(nullptr), facts::kEventHandle), "begun");
  nvtxNameCudaEventA(handle(static_cast<cudaEvent_t*>(nullptr), facts::kEventHandle), "batch done");
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  if (argc > 2 && (std::string(argv[2]) == "long" || std::string(argv[2]) == "graph")) sigprocmask(SIG_BLOCK, &term, nullptr);
  if (argc > 2 && std::string(argv[2]) == "fork") go_on_in_child();
  std::atexit([] {
    if (work_at_exit != nullptr) work_at_exit(1);
  });
  if (const char* driver = std::getenv("MOCK_CUDA_LIBRARY"); driver != nullptr) dlopen(driver, RTLD_NOW | RTLD_GLOBAL);
  void* agent = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_LAZY);
  if (agent == nullptr) return 2;
  const auto inject = reinterpret_cast<int (*)()>(dlsym(agent, "InitializeInjection"));
  if (inject == nullptr || inject() != 1) return 3;
  void* cupti = dlopen(std::getenv("LANESCOPE_CUPTI_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
  const auto work = cupti == nullptr ? nullptr : reinterpret_cast<MockCuptiWork>(dlsym(cupti, "mock_cupti_work"));
  const std::string how = argc > 2 ? argv[2] : "exit";
  const auto profile = cupti == nullptr ? nullptr : reinterpret_cast<MockCuptiProfile>(dlsym(cupti, "mock_cupti_profile"));
  for (int i = how == "captures" ? std::atoi(argv[3]) : 0; i > 0; --i) {
    work(std::strtoull(argv[1], nullptr, 10));
    profile(1);
    work(100);
    profile(0);
  }
  if (argc > 1 && work != nullptr) work(std::strtoull(argv[1], nullptr, 10));
  const auto find = [cupti](const char* name) { return cupti == nullptr ? nullptr : dlsym(cupti, name); };
  if (how == "late") work_at_exit = work;
  if (how == "names") name_resources();
  if (how == "memory" || how == "names") {
    reinterpret_cast<MockCuptiInitialize>(find("mock_cupti_initialize"))();
    if (reinterpret_cast<MockCuptiAwait>(find("mock_cupti_await_unified_memory"))() == 0) return 4;
    reinterpret_cast<MockCuptiMemory>(find("mock_cupti_memory"))();
  }
  if (how == "unreadable") {
    reinterpret_cast<MockCuptiDeliverUnreadable>(find("mock_cupti_deliver_unreadable"))();
    become_shell("exec-fails");
    work(100);
    std::puts("unharmed");
  }
  if (how == "faulted") {
    if (reinterpret_cast<MockCuptiAwait>(find("mock_cupti_await_fault"))() == 0) return 6;
    work(100);
    std::puts("unharmed");
  }
  if (how == "asked") std::printf("asked %d\n", static_cast<int>(reinterpret_cast<MockCuptiAsked>(find("mock_cupti_asked"))()));
  if (how == "samples") reinterpret_cast<MockCuptiSample>(find("mock_cupti_sample"))();
  if (how == "waits") wait_in_mock_program(reinterpret_cast<MockCuptiWait>(find("mock_cupti_wait")));
  if (how == "long") {
    const auto begin = reinterpret_cast<MockCuptiBeginLongKernel>(find("mock_cupti_begin_long_kernel"));
    if (begin != nullptr) begin();
    std::puts("running");
    std::fflush(stdout);
    int signal = 0;
    sigwait(&term, &signal);
    if (begin != nullptr) reinterpret_cast<MockCuptiEndLongKernel>(find("mock_cupti_end_long_kernel"))();
    std::puts("done");
    return 5;
  }
  if (how == "graph") {
    reinterpret_cast<MockCuptiLaunchGraph>(find("mock_cupti_launch_graph"))();
    std::puts("running");
    std::fflush(stdout);
    int signal = 0;
    sigwait(&term, &signal);
  }
  if (how == "reset") reinterpret_cast<MockCuptiReset>(find("mock_cupti_reset"))();
  if (how == "fork-after") {
    go_on_in_child();
    work(std::strtoull(argv[1], nullptr, 10));
  }
  if (how == "_exit") _exit(7);
  if (how == "_Exit") std::_Exit(7);
  if (how == "quick_exit") std::quick_exit(7);
  if (how.starts_with("exec") || how == "fexecve") become_shell(how);
  if (how == "exec-fails") work(std::strtoull(argv[1], nullptr, 10));
  if (how == "kill") std::raise(SIGKILL);
  if (how == "term") std::raise(SIGTERM);
  if (how == "int") std::raise(SIGINT);
  if (how == "hup") std::raise(SIGHUP);
  if (how == "clean-term" && std::signal(SIGTERM, end_by_action) == SIG_DFL) std::raise(SIGTERM);
  if (how == "clean-hup" && std::signal(SIGHUP, end_by_signal) == SIG_DFL) std::raise(SIGHUP);
  if (how == "abort") std::abort();
  if (how == "segv") *reinterpret_cast<volatile int*>(facts::kNowhere) = 1;
  if (how == "sleep") {
    std::puts("running");
    std::fflush(stdout);
    for (;;) pause();
  }
  if (how == "hang") {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) < 0) {
    }
  }
  return 0;
}
