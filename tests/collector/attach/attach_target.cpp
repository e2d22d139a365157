// A program to attach to: does one thing, chosen by its argument, and reports at its end whether anything disturbed it. It exits with 7.
//
// Modes that end on request read standard input: closing it ends them. A second argument is a folder that becomes its root.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kExitCode = 7;
constexpr long kNapNanoseconds = 700'000'000;

const char* whole(bool undisturbed) { return undisturbed ? "undisturbed" : "disturbed"; }

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool input_is_closed() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

// The first thread ends, and another thread reads.
const char* do_headless() {
  pthread_t other;
  const auto read_on = [](void*) -> void* {
    char letter = 0;
    std::exit(read(STDIN_FILENO, &letter, 1) == 0 ? kExitCode : 1);
  };
  pthread_create(&other, nullptr, read_on, nullptr);
  pthread_exit(nullptr);
}

const char* do_read() {
  char letters[16] = {};
  const ssize_t count = read(STDIN_FILENO, letters, sizeof letters);
  return whole(count == 5 && std::strncmp(letters, "hello", 5) == 0);
}

// Has so much memory that the kernel needs a while to release it.
const char* do_large() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return "no memory";
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, kBytes);
  std::puts("large");
  std::fflush(stdout);
  return do_read();
}

const char* do_nanosleep() {
  const double start = now();
  const timespec nap{0, kNapNanoseconds};
  const int result = clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
  const double took = now() - start;
  return whole(result == 0 && took >= 0.7 && took < 1.2);
}

const char* do_poll() {
  const double start = now();
  const int result = poll(nullptr, 0, 700);
  const double took = now() - start;
  return whole(result == 0 && took >= 0.7 && took < 1.2);
}

// The kernel ends epoll_wait with EINTR when its thread is stopped.
const char* do_epoll() {
  const int set = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(set, EPOLL_CTL_ADD, STDIN_FILENO, &event);
  return whole(epoll_wait(set, &event, 1, -1) == 1);
}

const char* do_signal_wait() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const timespec limit{20, 0};
  return whole(sigtimedwait(&signals, nullptr, &limit) == SIGUSR1);
}

const char* do_futex() {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread other([] {
    char letter = 0;
    while (read(STDIN_FILENO, &letter, 1) > 0) {
    }
    sem_post(&semaphore);
  });
  const int result = sem_wait(&semaphore);
  other.join();
  return whole(result == 0);
}

std::atomic<int> alarms{0};
const char* do_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++alarms; };
  sigaction(SIGALRM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
  const itimerval every_millisecond{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  while (!input_is_closed()) {
    const timespec nap{0, 5'000'000};
    nanosleep(&nap, nullptr);
  }
  return whole(alarms > 0);
}

// Every thread allocates, fills, checks and frees all the time, in different sizes.
bool storm() {
  bool good = true;
  std::uint32_t random = static_cast<std::uint32_t>(getpid());
  std::vector<char*> blocks(64, nullptr);
  for (unsigned round = 0; round % 1000 != 0 || !input_is_closed(); ++round) {
    random = random * 1664525 + 1013904223;
    char*& block = blocks[random >> 26];
    if (block != nullptr) good = good && block[0] == block[1];
    std::free(block);
    block = static_cast<char*>(std::malloc(2 + (random >> 8) % 100'000));
    block[0] = block[1] = static_cast<char>(random);
  }
  for (char* block : blocks) std::free(block);
  return good;
}

const char* do_storm() {
  std::atomic<bool> good{true};
  std::vector<std::thread> threads;
  for (int index = 0; index < 3; ++index) threads.emplace_back([&] { good = storm() && good; });
  const bool own = storm();
  for (std::thread& thread : threads) thread.join();
  return whole(good && own);
}

// One thread that never enters the kernel: its registers, vector registers included, must survive.
const char* do_compute() {
  bool good = true;
  for (unsigned round = 0; round % 64 != 0 || !input_is_closed(); ++round) {
    double sums[4] = {0, 0, 0, 0};
    for (int step = 1; step <= 100'000; ++step)
      for (double& sum : sums) sum += step;
    for (const double sum : sums) good = good && sum == 5'000'050'000.0;
  }
  return whole(good);
}

// Puts numbers into all registers of a kind, keeps the processor busy, and reads them again. 128 bytes below the stack are in use, too.
struct Registers {
  std::uint64_t general[8];
  std::uint64_t below_stack[16];
  alignas(32) std::uint64_t vector[16][4];
};

void hold(const Registers& in, Registers& out, std::uint64_t rounds) {
  const void* const from = &in;
  void* const to = &out;
#define LANESCOPE_EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define LANESCOPE_PUSH(n) "mov 64+8*" #n "(%[from]), %%rdx\n mov %%rdx, -128+8*" #n "(%%rsp)\n"
#define LANESCOPE_POP(n) "mov -128+8*" #n "(%%rsp), %%rdx\n mov %%rdx, 64+8*" #n "(%[to])\n"
#define LANESCOPE_LOAD(n) "vmovdqu 192+32*" #n "(%[from]), %%ymm" #n "\n"
#define LANESCOPE_STORE(n) "vmovdqu %%ymm" #n ", 192+32*" #n "(%[to])\n"
  asm volatile("lea -512(%%rsp), %%rsp\n" LANESCOPE_EACH(LANESCOPE_PUSH) LANESCOPE_EACH(LANESCOPE_LOAD)
               "mov 0(%[from]), %%r8\n mov 8(%[from]), %%r9\n mov 16(%[from]), %%r10\n mov 24(%[from]), %%r11\n"
               "mov 32(%[from]), %%r12\n mov 40(%[from]), %%r13\n mov 48(%[from]), %%r14\n mov 56(%[from]), %%r15\n"
               "1: dec %[rounds]\n jnz 1b\n"
               "mov %%r8, 0(%[to])\n mov %%r9, 8(%[to])\n mov %%r10, 16(%[to])\n mov %%r11, 24(%[to])\n"
               "mov %%r12, 32(%[to])\n mov %%r13, 40(%[to])\n mov %%r14, 48(%[to])\n mov %%r15, 56(%[to])\n"
               LANESCOPE_EACH(LANESCOPE_STORE) LANESCOPE_EACH(LANESCOPE_POP) "lea 512(%%rsp), %%rsp\n"
               : [rounds] "+&a"(rounds)
               : [from] "S"(from), [to] "D"(to)
               : "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                 "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#undef LANESCOPE_EACH
#undef LANESCOPE_PUSH
#undef LANESCOPE_POP
#undef LANESCOPE_LOAD
#undef LANESCOPE_STORE
}
static_assert(offsetof(Registers, below_stack) == 64 && offsetof(Registers, vector) == 192);

thread_local std::uint64_t of_this_thread = 0;

// Checks everything that belongs to a thread, again and again: registers, the rounding mode, the signal mask, the alternate stack, thread-local memory.
bool keeps_its_state() {
  constexpr std::uint64_t kRounds = 2'000'000;  // about a millisecond
  constexpr unsigned kRoundUp = 0x5f80;         // of SSE; its other bits are as the kernel sets them
  Registers in{};
  std::uint64_t number = 1;
  for (auto* place = reinterpret_cast<std::uint64_t*>(&in); place != reinterpret_cast<std::uint64_t*>(&in + 1); ++place)
    *place = number = number * 6364136223846793005 + 1442695040888963407;
  static char stack[512 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigaddset(&blocked, SIGALRM);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  __builtin_ia32_ldmxcsr(kRoundUp);
  bool good = true;
  for (std::uint64_t round = 0; good && !input_is_closed(); ++round) {
    of_this_thread = round;
    Registers out{};
    hold(in, out, kRounds);
    constexpr unsigned kFlagsOfResults = 0x3f;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    stack_t now{};
    sigaltstack(nullptr, &now);
    good = std::memcmp(&in, &out, sizeof in) == 0 && (__builtin_ia32_stmxcsr() & ~kFlagsOfResults) == kRoundUp && of_this_thread == round &&
           std::memcmp(&mask, &blocked, sizeof(std::uint64_t)) == 0 && now.ss_sp == stack && now.ss_size == sizeof stack;
  }
  return good;
}

const char* do_state() {
  if (!__builtin_cpu_supports("avx")) return "no AVX";
  return whole(keeps_its_state());
}

// The same in a signal handler, on the alternate stack.
bool kept_in_handler = false;
const char* do_handler() {
  if (!__builtin_cpu_supports("avx")) return "no AVX";
  static char stack[512 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int) {
    Registers in{};
    std::memset(&in, 0x5a, sizeof in);
    kept_in_handler = true;
    while (kept_in_handler && !input_is_closed()) {
      Registers out{};
      hold(in, out, 2'000'000);
      kept_in_handler = std::memcmp(&in, &out, sizeof in) == 0;
    }
  };
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  return whole(kept_in_handler);
}

// Waits with a time limit, which no signal interrupts.
const char* do_naps() {
  constexpr double kNap = 0.02;
  const timespec nap{0, 20'000'000};
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  bool good = true;
  for (int round = 0; good && !input_is_closed(); ++round) {
    const double begin = now();
    timespec end{};
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += nap.tv_nsec;
    end.tv_sec += end.tv_nsec / 1'000'000'000;
    end.tv_nsec %= 1'000'000'000;
    if (round % 4 == 0) good = clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr) == 0;
    if (round % 4 == 1) good = poll(nullptr, 0, 20) == 0;
    if (round % 4 == 2) good = sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT;
    if (round % 4 == 3) good = ppoll(nullptr, 0, &nap, nullptr) == 0;
    good = good && now() - begin >= kNap * 0.98;  // the time of day is adjusted
  }
  return whole(good);
}

const char* do_threads() {
  std::vector<std::thread> threads;
  std::atomic<bool> ends{false};
  for (int index = 0; index < 32; ++index)
    threads.emplace_back([&] {
      while (!ends) {
        const timespec nap{0, 200'000};
        nanosleep(&nap, nullptr);
      }
    });
  char letter = 0;
  while (read(STDIN_FILENO, &letter, 1) > 0) {
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  return whole(true);
}

const char* do_short() {
  const timespec nap{0, 3'000'000};
  nanosleep(&nap, nullptr);
  return whole(true);
}

// A filter forbids it to make sockets, as some sandboxes do.
const char* do_filtered() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return "no filter";
  return do_read();
}

// Every call except those for reading, writing and ending ends the process.
void be_killed_for_others() {
#define LANESCOPE_ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(read),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(newfstatat),
                        LANESCOPE_ALLOW(fstat),
                        LANESCOPE_ALLOW(brk),
                        LANESCOPE_ALLOW(madvise),
                        LANESCOPE_ALLOW(mmap),
                        LANESCOPE_ALLOW(mprotect),
                        LANESCOPE_ALLOW(munmap),
                        LANESCOPE_ALLOW(futex),
                        LANESCOPE_ALLOW(rt_sigprocmask),
                        LANESCOPE_ALLOW(restart_syscall),
                        LANESCOPE_ALLOW(exit),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
#undef LANESCOPE_ALLOW
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(3);
}

const char* do_deadly() {
  be_killed_for_others();
  return do_read();
}

// The main thread may make all calls.
const char* do_deadly_thread() {
  const char* result = nullptr;
  std::thread([&] {
    be_killed_for_others();
    result = do_read();
  }).join();
  return result;
}

// It may read, write and exit, and nothing else.
const char* do_strict() {
  char letters[16] = {};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return "not strict";
  const bool undisturbed = syscall(SYS_read, STDIN_FILENO, letters, sizeof letters) == 5;
  const char* text = undisturbed ? "undisturbed\n" : "disturbed\n";
  syscall(SYS_write, STDOUT_FILENO, text, std::strlen(text));
  syscall(SYS_exit, kExitCode);
  return text;
}

}  // namespace

int main(int, char** arguments) {
  if (arguments[2] != nullptr && (chroot(arguments[2]) != 0 || chdir("/") != 0)) return 1;
  const std::map<std::string, const char* (*)()> modes{{"read", do_read},       {"large", do_large},       {"nanosleep", do_nanosleep},
                                                       {"poll", do_poll},       {"epoll", do_epoll},       {"signal-wait", do_signal_wait},
                                                       {"futex", do_futex},     {"signals", do_signals},   {"storm", do_storm},
                                                       {"compute", do_compute}, {"threads", do_threads},   {"state", do_state},
                                                       {"handler", do_handler}, {"naps", do_naps},         {"rootless", do_epoll},
                                                       {"short", do_short},     {"headless", do_headless}, {"filtered", do_filtered},
                                                       {"strict", do_strict},   {"deadly", do_deadly},     {"deadly-thread", do_deadly_thread}};
  std::puts(modes.at(arguments[1])());
  return kExitCode;
}
