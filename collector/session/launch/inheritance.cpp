#include "collector/session/inheritance.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>

namespace lanescope::session {
namespace {

// Limits that a recorder may reach although its program does not.
constexpr std::array kRaised{RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_MEMLOCK, RLIMIT_STACK};
constexpr rlim_t kMostDescriptors = 1u << 20;     // no recording needs more, and some programs close all that they may have
constexpr rlim_t kMostStack = 8u << 20;           // bytes, as is usual: where there is no limit, the kernel lays memory out in another way
constexpr std::size_t kStackOfThread = 2u << 20;  // bytes; the C library gives threads as much as the limit was when the process started
constexpr int kStandard = 3;                      // descriptors, from 0 on
constexpr int kKnown = 1024;                      // likewise; the recorder's own get the lowest numbers that are free

constexpr std::array kTimers{ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

struct Inheritance {
  bool is_kept = false;
  pid_t number = 0;
  std::array<rlimit, kRaised.size()> limits{};
  sigset_t blocked{};
  std::array<bool, NSIG> ignored{};
  std::array<bool, kKnown> open{true, true, true};
  std::array<itimerval, kTimers.size()> timers{};
  timespec timers_read{};
  bool adopts_orphans = false;
};
constinit Inheritance inheritance;

// The kernel's form: two signals belong to the C library, which does not give access to them.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t blocked;
};

bool is_ignored(int signal) noexcept {
  KernelAction action{};
  return syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof(action.blocked)) == 0 && action.handler == SIG_IGN;
}

void set(int signal, void (*handler)(int)) noexcept {
  const KernelAction action{handler, 0, nullptr, 0};
  syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof(action.blocked));
}

void raise_limits() {
  for (std::size_t i = 0; i < kRaised.size(); ++i) {
    if (getrlimit(kRaised[i], &inheritance.limits[i]) != 0) continue;
    rlimit raised = inheritance.limits[i];
    raised.rlim_cur = raised.rlim_max;
    if (kRaised[i] == RLIMIT_NOFILE) raised.rlim_cur = std::max(inheritance.limits[i].rlim_cur, std::min(raised.rlim_cur, kMostDescriptors));
    if (kRaised[i] == RLIMIT_STACK) raised.rlim_cur = std::max(inheritance.limits[i].rlim_cur, std::min(raised.rlim_cur, kMostStack));
    setrlimit(kRaised[i], &raised);
  }
}

// Their limit does not bind threads, which get memory of another kind.
void give_threads_stacks() {
  pthread_attr_t usual;
  if (pthread_getattr_default_np(&usual) != 0) return;
  std::size_t size = 0;
  if (pthread_attr_getstacksize(&usual, &size) == 0 && size < kStackOfThread && pthread_attr_setstacksize(&usual, kStackOfThread) == 0)
    pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&usual);
}

// exec keeps this, fork does not.
void keep_adoption() noexcept {
  int adopts = 0;
  inheritance.adopts_orphans = prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0;
  if (inheritance.adopts_orphans) prctl(PR_SET_CHILD_SUBREAPER, 0);  // once the program has ended, they go where they would without us
}

timespec now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}

void keep_timers() noexcept {
  for (std::size_t i = 0; i < kTimers.size(); ++i) getitimer(kTimers[i], &inheritance.timers[i]);
  inheritance.timers_read = now();
}

// exec keeps them, fork does not. That of the real time has gone on meanwhile; those of processor time count a program's own.
void give_back_timers() noexcept {
  constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
  const timespec time = now();
  const std::int64_t passed =
      (time.tv_sec - inheritance.timers_read.tv_sec) * kMicrosecondsPerSecond + (time.tv_nsec - inheritance.timers_read.tv_nsec) / 1'000;
  for (std::size_t i = 0; i < kTimers.size(); ++i) {
    itimerval timer = inheritance.timers[i];
    const std::int64_t left = timer.it_value.tv_sec * kMicrosecondsPerSecond + timer.it_value.tv_usec;
    if (left == 0) continue;
    const std::int64_t remains = kTimers[i] == ITIMER_REAL ? std::max<std::int64_t>(left - passed, 1) : left;
    timer.it_value = {static_cast<time_t>(remains / kMicrosecondsPerSecond), static_cast<suseconds_t>(remains % kMicrosecondsPerSecond)};
    setitimer(kTimers[i], &timer, nullptr);
  }
}

bool goes_to_programs(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

void keep_from_programs(int first, int last) noexcept {
  constexpr unsigned kOnExec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, since Linux 5.11
  if (syscall(SYS_close_range, first, last, kOnExec) == 0) return;
  for (int descriptor = first; descriptor <= last; ++descriptor) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

void let_go_of(int descriptor, int how) noexcept {
  const int nothing = open("/dev/null", how | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, descriptor);
  close(nothing);
}

// A thread of ours may have opened a file just when this process was forked, by a way that can't keep it from programs at once.
void keep_own_descriptors() noexcept {
  for (int first = kStandard; first < kKnown; ++first) {
    if (inherited(first)) continue;
    int last = first;
    while (last + 1 < kKnown && !inherited(last + 1)) ++last;
    keep_from_programs(first, last);
    first = last;
  }
}

}  // namespace

void keep_inheritance() {
  inheritance.number = getpid();
  sigprocmask(SIG_SETMASK, nullptr, &inheritance.blocked);
  for (int signal = 1; signal < NSIG; ++signal) inheritance.ignored[static_cast<std::size_t>(signal)] = is_ignored(signal);
  for (int descriptor = kStandard; descriptor < kKnown; ++descriptor) inheritance.open[static_cast<std::size_t>(descriptor)] = goes_to_programs(descriptor);
  for (int descriptor = 0; descriptor < kStandard; ++descriptor) {
    inheritance.open[static_cast<std::size_t>(descriptor)] = fcntl(descriptor, F_GETFD) >= 0;
    if (!inherited(descriptor)) open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR);  // gets the lowest free number, which is this one
  }
  set(SIGCHLD, SIG_DFL);
  set(SIGXFSZ, SIG_IGN);
  raise_limits();
  give_threads_stacks();
  keep_timers();
  keep_adoption();
  inheritance.is_kept = true;
}

void give_back_inheritance() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    const bool was_ignored = inheritance.ignored[static_cast<std::size_t>(signal)];
    if (inheritance.is_kept && was_ignored != is_ignored(signal)) set(signal, was_ignored ? SIG_IGN : SIG_DFL);
  }
  if (!inheritance.is_kept) set(SIGPIPE, SIG_DFL);
  for (int descriptor = 0; descriptor < kStandard; ++descriptor)
    if (!inherited(descriptor)) close(descriptor);
  if (inheritance.is_kept) keep_own_descriptors();
  for (std::size_t i = 0; i < kRaised.size(); ++i)
    if (inheritance.is_kept) setrlimit(kRaised[i], &inheritance.limits[i]);
  if (inheritance.is_kept) give_back_timers();
  if (inheritance.adopts_orphans) prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigprocmask(SIG_SETMASK, &inheritance.blocked, nullptr);  // none if nothing was kept
}

void let_go_of_standard_input() noexcept { let_go_of(STDIN_FILENO, O_RDONLY); }

void let_go_of_standard_output() noexcept { let_go_of(STDOUT_FILENO, O_WRONLY); }

void let_go_of_other_descriptors() noexcept {
  for (int descriptor = kStandard; descriptor < kKnown; ++descriptor)
    if (std::exchange(inheritance.open[static_cast<std::size_t>(descriptor)], false)) close(descriptor);
}

int inherited_number() noexcept { return inheritance.number; }

int inherited_death_signal() noexcept {
  int signal = 0;
  return prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal == SIGKILL ? signal : 0;
}

bool inherited(int descriptor) noexcept { return inheritance.open[static_cast<std::size_t>(descriptor)]; }

}  // namespace lanescope::session
