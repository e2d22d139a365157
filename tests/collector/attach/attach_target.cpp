// A program to attach to: does one thing, chosen by its argument, and says at its end whether anything disturbed it. It exits with 7.
//
// Modes that end on request read standard input: closing it ends them.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
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

const char* do_read() {
  char letters[16] = {};
  const ssize_t count = read(STDIN_FILENO, letters, sizeof letters);
  return whole(count == 5 && std::strncmp(letters, "hello", 5) == 0);
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

// A filter lets it make no sockets, as some sandboxes do.
const char* do_filtered() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return "no filter";
  return do_read();
}

// What is not for reading, writing and ending ends it.
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

// The main thread may do all.
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
  const std::map<std::string, const char* (*)()> modes{
      {"read", do_read},   {"nanosleep", do_nanosleep}, {"poll", do_poll},    {"epoll", do_epoll},     {"signal-wait", do_signal_wait},
      {"futex", do_futex}, {"signals", do_signals},     {"storm", do_storm},  {"compute", do_compute}, {"threads", do_threads},
      {"short", do_short}, {"filtered", do_filtered},   {"strict", do_strict}, {"deadly", do_deadly}, {"deadly-thread", do_deadly_thread}};
  std::puts(modes.at(arguments[1])());
  return kExitCode;
}
