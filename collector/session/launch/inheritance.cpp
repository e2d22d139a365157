#include "collector/session/inheritance.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>

namespace lanescope::session {
namespace {

// Those that a recorder may reach when its program does not.
constexpr std::array kRaised{RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_MEMLOCK};
constexpr rlim_t kMostDescriptors = 1u << 20;  // no recording needs more, and some programs close all that they may have

struct Inheritance {
  bool is_kept = false;
  std::array<rlimit, kRaised.size()> limits{};
  sigset_t blocked{};
  std::array<bool, NSIG> ignored{};
  std::array<bool, 3> open{true, true, true};
};
constinit Inheritance inheritance;

// Of the kernel: two signals are the C library's own, and not to be had from it.
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
    setrlimit(kRaised[i], &raised);
  }
}

}  // namespace

void keep_inheritance() {
  sigprocmask(SIG_SETMASK, nullptr, &inheritance.blocked);
  for (int signal = 1; signal < NSIG; ++signal) inheritance.ignored[static_cast<std::size_t>(signal)] = is_ignored(signal);
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    inheritance.open[static_cast<std::size_t>(descriptor)] = fcntl(descriptor, F_GETFD) >= 0;
    if (!inherited(descriptor)) open("/dev/null", O_RDWR);  // gets the lowest number that is free, which is this one
  }
  set(SIGCHLD, SIG_DFL);
  set(SIGXFSZ, SIG_IGN);
  raise_limits();
  inheritance.is_kept = true;
}

void give_back_inheritance() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    const bool was_ignored = inheritance.ignored[static_cast<std::size_t>(signal)];
    if (inheritance.is_kept && was_ignored != is_ignored(signal)) set(signal, was_ignored ? SIG_IGN : SIG_DFL);
  }
  if (!inheritance.is_kept) set(SIGPIPE, SIG_DFL);
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (!inherited(descriptor)) close(descriptor);
  for (std::size_t i = 0; i < kRaised.size(); ++i)
    if (inheritance.is_kept) setrlimit(kRaised[i], &inheritance.limits[i]);
  sigprocmask(SIG_SETMASK, &inheritance.blocked, nullptr);  // none where nothing was kept
}

void let_go_of_standard_input() noexcept {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  close(nothing);
}

bool inherited(int standard_descriptor) noexcept { return inheritance.open[static_cast<std::size_t>(standard_descriptor)]; }

}  // namespace lanescope::session
