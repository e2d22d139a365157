// A target that lives and ends in the way that it is told, after 100 ranges "step" and the lines "out" and "err" on standard output and
// error. lives WAY [ARGUMENT]; the ways stand at the end. Ranges of each way are counted in tests/e2e/lifecycle/ways.cpp.
//
// Where the environment names a file in LIVES_UNTIL it makes ranges "waiting" first, until there is such a file.
//
// What fails that a way needs ends it with 99 and says why: then nothing can be concluded from it.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kCode = 7;
constexpr uid_t kNobody = 65534;

char** arguments;

void steps(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
}

int number(int otherwise) { return arguments[2] != nullptr ? std::atoi(arguments[2]) : otherwise; }

void must(bool succeeded, const char* what) {
  if (succeeded) return;
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  _exit(99);
}

int code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void wait_for_all() {
  while (wait(nullptr) > 0) {
  }
}

[[noreturn]] void become(const char* way, const char* argument = nullptr) {
  execl("/proc/self/exe", arguments[0], way, argument, nullptr);
  _exit(98);
}

int child_with_steps(const std::function<pid_t()>& make) {
  const pid_t child = make();
  if (child == 0) {
    steps(50);
    _exit(2);
  }
  must(child > 0, "a child");
  const int code = code_of(child);
  steps(100);
  return code;
}

// ---- Ways --------------------------------------------------------------------------------------------------------------------------

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

// Its handler leaves what was interrupted, most often in the midst of a mark. Alarms may come late: of marks no more are made than the recorder's
// memory holds.
sigjmp_buf before_alarm;
int jumps_out_of_handlers() {
  constexpr int kJumps = 2'000;
  constexpr int kMostMarks = 2'000;  // of each
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

int leaves_quickly() {
  std::at_quick_exit([] {
    steps(50);
    static_cast<void>(write(STDOUT_FILENO, "quickly\n", 8));
  });
  std::quick_exit(kCode);
}
int aborts() { std::abort(); }
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

// What comes after the end of main() makes ranges, too, and a child.
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
// Threads are in the midst of ranges and calls when it ends.
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

int has_children() {
  for (int i = number(10); i > 0; --i)
    if (fork() == 0) {
      steps(10);
      _exit(0);
    }
  wait_for_all();
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
// A function of its own: a child of a vfork may change what its caller keeps in registers.
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
// Its first NVTX call of all is made by the child of a vfork.
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

int closes_all() {
  for (int descriptor = 0; descriptor < 65'536; ++descriptor) close(descriptor);
  steps(100);
  return kCode;
}
int closes_range() {
  must(syscall(SYS_close_range, 3u, ~0u, 0) == 0, "close_range");
  steps(100);
  int ends[2] = {-1, -1};
  return pipe(ends) == 0 && ends[0] == 3 && ends[1] == 4 ? kCode : 98;
}
int covers_descriptors() {
  for (int descriptor = 3; descriptor < 1'024; ++descriptor) dup2(1, descriptor);
  steps(100);
  return kCode;
}
int has_no_descriptors() {
  const rlimit limit{32, 32};
  must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
  return child_with_steps(fork);
}

int changes_root() {
  must(chroot(arguments[2]) == 0 && chdir("/") == 0, "chroot");
  return child_with_steps(fork);
}
int is_another_user() {
  must(setgid(kNobody) == 0 && setuid(kNobody) == 0, "setuid");
  return child_with_steps(fork);
}
int becomes_another_user() {
  must(setgid(kNobody) == 0 && setuid(kNobody) == 0, "setuid");
  execl(arguments[2], arguments[0], "exit", "9", nullptr);
  must(false, arguments[2]);
  return 99;
}
int can_not_be_dumped() {
  prctl(PR_SET_DUMPABLE, 0);
  steps(100);
  return kCode;
}

// A child whose clocks are a day ahead.
int lives_tomorrow() {
  must(unshare(CLONE_NEWTIME) == 0, "unshare");
  std::ofstream offsets("/proc/self/timens_offsets");
  must(static_cast<bool>(offsets << "monotonic 86400 0\n" << std::flush), "timens_offsets");
  return child_with_steps([] {
    const pid_t child = fork();
    if (child == 0) usleep(2'000);
    return child;
  });
}

// As few bytes as a thread may have.
int has_small_stacks() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  must(pthread_attr_setstacksize(&small, static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN))) == 0, "a small stack");
  int ended = 0;
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    must(pthread_create(
             &thread, &small,
             [](void*) -> void* {
               steps(10);
               usleep(2'000);
               steps(10);
               return &arguments;
             },
             nullptr) == 0,
         "a thread");
    void* result = nullptr;
    pthread_join(thread, &result);
    ended += result == &arguments ? 1 : 0;
  }
  std::printf("%d threads\n", ended);
  return kCode;
}

// All memory that it maps from now on is to be there at once.
int locks_its_memory() {
  must(mlockall(MCL_FUTURE) == 0, "mlockall");
  usleep(2'000);
  steps(100);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (constexpr long kMostKib = 32L << 10; line.starts_with("RssShmem:") && std::atol(line.c_str() + 9) > kMostKib)
      std::printf("there is %s\n", line.c_str());
  return kCode;
}

#define LANESCOPE_ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// From here on the kernel ends it for all that is not here.
void must_filter(const sock_filter* code, std::size_t length) {
  const sock_fprog filter{static_cast<unsigned short>(length), const_cast<sock_filter*>(code)};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "seccomp");
}
int may_only_write() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(exit_group),
                        LANESCOPE_ALLOW(rt_sigreturn),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  steps(number(1'000'000));
  must(write(STDOUT_FILENO, "written\n", 8) == 8, "write");
  _exit(kCode);
}

// Its first ranges come behind that.
int is_guarded_first() {
  may_only_write();
  return 98;
}
// Neither has it room for what it would report in, nor may its files grow.
int may_grow_nothing() {
  constexpr rlim_t kAddresses = 200ul << 20;
  const rlimit room{kAddresses, kAddresses}, files{0, 0};
  must(setrlimit(RLIMIT_AS, &room) == 0 && setrlimit(RLIMIT_FSIZE, &files) == 0, "setrlimit");
  steps(100);
  return kCode;
}
// Without sockets, which are refused.
int may_have_no_sockets() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  must_filter(code, std::size(code));
  steps(100);
  return kCode;
}
// A thread that may only write, a child that is such a thread, and then others.
int has_strict_threads() {
  const auto be_strict = [](int code) {
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict");
    steps(10);
    if (write(STDOUT_FILENO, "strict\n", 7) != 7) code = 98;
    syscall(SYS_exit, code);
  };
  std::thread(be_strict, 0).join();
  const pid_t child = fork();
  if (child == 0) be_strict(3);
  must(code_of(child) == 3, "the end of a child");
  std::thread([] { steps(50); }).join();
  steps(50);
  return kCode;
}
// The child of a vfork guards itself, and itself alone.
[[gnu::noinline]] void vfork_and_filter() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const pid_t child = vfork();
  if (child == 0) {
    must_filter(code, std::size(code));
    _exit(3);
  }
  must(code_of(child) == 3, "the child of a vfork");
}
int has_a_guarded_vfork() {
  vfork_and_filter();
  return child_with_steps(fork);
}
// A child that makes ranges before and behind its filter, and one whose first come behind it.
int has_guarded_children() {
  for (const int before : {10, 0}) {
    const pid_t child = fork();
    if (child == 0) {
      steps(before);
      sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            LANESCOPE_ALLOW(write),
                            LANESCOPE_ALLOW(exit_group),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
      must_filter(code, std::size(code));
      steps(10);
      _exit(write(STDOUT_FILENO, "child\n", 6) == 6 ? 3 : 4);
    }
    must(code_of(child) == 3, "the end of a child");
  }
  return kCode;
}

// It may have threads, and write.
int may_only_have_threads() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(clone),
                        LANESCOPE_ALLOW(clone3),
                        LANESCOPE_ALLOW(mmap),
                        LANESCOPE_ALLOW(munmap),
                        LANESCOPE_ALLOW(mprotect),
                        LANESCOPE_ALLOW(madvise),
                        LANESCOPE_ALLOW(brk),
                        LANESCOPE_ALLOW(futex),
                        LANESCOPE_ALLOW(set_robust_list),
                        LANESCOPE_ALLOW(rseq),
                        LANESCOPE_ALLOW(sched_getaffinity),
                        LANESCOPE_ALLOW(getrandom),
                        LANESCOPE_ALLOW(prctl),
                        LANESCOPE_ALLOW(rt_sigprocmask),
                        LANESCOPE_ALLOW(rt_sigaction),
                        LANESCOPE_ALLOW(rt_sigreturn),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(exit),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  for (int i = 0; i < 5; ++i) std::thread([] { steps(10); }).join();
  must(write(STDOUT_FILENO, "written\n", 8) == 8, "write");
  _exit(kCode);
}
// It may fork, and write.
int may_only_fork() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(clone),
                        LANESCOPE_ALLOW(wait4),
                        LANESCOPE_ALLOW(set_robust_list),
                        LANESCOPE_ALLOW(rt_sigprocmask),
                        LANESCOPE_ALLOW(rt_sigreturn),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps(10);
      _exit(write(STDOUT_FILENO, "child\n", 6) == 6 ? 3 : 4);
    }
    must(code_of(child) == 3, "the end of a child");
  }
  steps(10);
  _exit(kCode);
}
#undef LANESCOPE_ALLOW

int copies_input() {
  std::vector<char> buffer(1 << 16);
  long copied = 0;
  for (ssize_t size = 0; (size = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0; copied += size)
    if (write(STDOUT_FILENO, buffer.data(), static_cast<std::size_t>(size)) != size) return 98;
  std::fprintf(stderr, "copied %ld\n", copied);
  return kCode;
}
int prints_lines() {
  for (int i = number(1'000); i > 0; --i) std::printf("line %d of many\n", i);
  return std::fflush(stdout) == 0 ? kCode : 98;
}
int writes_a_file() {
  const std::vector<char> block(1 << 16, 'x');
  const int file = open(arguments[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 16; ++i)
    if (write(file, block.data(), block.size()) < 0) return 98;
  steps(100);
  return kCode;
}

// What it has inherited: limits, signals, descriptors.
int shows_what_it_inherited() {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource>(resource), &limit);
    std::printf("limit %d: %lx %lx\n", resource, limit.rlim_cur, limit.rlim_max);
  }
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk") || line.starts_with("SigIgn")) std::printf("%s\n", line.c_str());
  for (int descriptor = 0; descriptor < 10; ++descriptor)
    if (fcntl(descriptor, F_GETFD) >= 0) std::printf("descriptor %d is open\n", descriptor);
  std::printf("umask %o, priority %d\n", umask(0), getpriority(PRIO_PROCESS, 0));
  return kCode;
}

// Each signal that comes is a line, until SIGTERM.
int shows_signals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) {
    const int signal = sigwaitinfo(&all, nullptr);
    if (signal < 0) continue;
    std::printf("signal %d\n", signal);
    std::fflush(stdout);
    if (signal == SIGTERM) return kCode;
  }
}
int waits() {
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) pause();
}

const std::map<std::string, int (*)()> ways{
    {"exit", exits},
    {"_exit", leaves},
    {"exit_group", leaves_group},
    {"quick_exit", leaves_quickly},
    {"abort", aborts},
    {"fault", faults},
    {"fault-on-thread", faults_on_thread},
    {"overflows", survives_overflows},
    {"jumps", jumps_out_of_handlers},
    {"slow-end", ends_slowly},
    {"exit-on-thread", another_thread_ends_it},
    {"exec-on-thread", another_thread_becomes_another},
    {"first-thread-exits", first_thread_leaves},
    {"exit-among-threads", ends_among_threads},
    {"cancel", cancels_threads},
    {"pthread_exit", main_thread_leaves},
    {"signal", dies},
    {"children", has_children},
    {"tree", is_a_tree},
    {"threads", has_threads},
    {"forks-among-threads", forks_among_threads},
    {"exec", becomes_others},
    {"exec-fails", fails_to_become},
    {"vfork-exec", vforks_and_becomes},
    {"vfork-exit", vforks_and_leaves},
    {"vfork-first", begins_in_a_vfork},
    {"spawn", spawns},
    {"clone-vm", clones_within_its_memory},
    {"clone", forks_by_the_kernel},
    {"_Fork", forks_without_handlers},
    {"daemon", becomes_a_daemon},
    {"setsid", leaves_its_session},
    {"orphan", leaves_an_orphan},
    {"sleeper", leaves_a_sleeper},
    {"subreaper", takes_orphans_in},
    {"forks-in-handlers", forks_in_handlers},
    {"small-stacks", has_small_stacks},
    {"tomorrow", lives_tomorrow},
    {"mlockall", locks_its_memory},
    {"close", closes_all},
    {"close_range", closes_range},
    {"dup2", covers_descriptors},
    {"no-descriptors", has_no_descriptors},
    {"chroot", changes_root},
    {"setuid", is_another_user},
    {"setuid-exec", becomes_another_user},
    {"not-dumpable", can_not_be_dumped},
    {"seccomp", may_only_write},
    {"seccomp-first", is_guarded_first},
    {"seccomp-no-sockets", may_have_no_sockets},
    {"no-growth", may_grow_nothing},
    {"seccomp-strict", has_strict_threads},
    {"seccomp-children", has_guarded_children},
    {"seccomp-vfork", has_a_guarded_vfork},
    {"seccomp-threads", may_only_have_threads},
    {"seccomp-forks", may_only_fork},
    {"copy", copies_input},
    {"lines", prints_lines},
    {"write", writes_a_file},
    {"inherited", shows_what_it_inherited},
    {"signals", shows_signals},
    {"wait", waits},
};

// These come before the agent is there.
bool begins_with_its_way(int (*way)()) {
  return way == shows_what_it_inherited || way == has_small_stacks || way == locks_its_memory || way == is_guarded_first || way == may_have_no_sockets || way == may_grow_nothing ||
         way == begins_in_a_vfork;
}

void wait_for(const char* file) {
  while (access(file, F_OK) != 0) {
    nvtxRangePushA("waiting");
    usleep(2'000);
    nvtxRangePop();
  }
  unsetenv("LIVES_UNTIL");
}

}  // namespace

int main(int, char** argv) {
  arguments = argv;
  const auto way = ways.find(argv[1] != nullptr ? argv[1] : "exit");
  if (way == ways.end()) return 99;
  if (const char* file = std::getenv("LIVES_UNTIL")) wait_for(file);
  if (begins_with_its_way(way->second)) return way->second();
  steps(100);
  std::puts("out");
  std::fflush(stdout);
  std::fputs("err\n", stderr);
  return way->second();
}
