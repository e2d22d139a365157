#include "collector/session/process_beside.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanescope::session {
namespace {

bool is_fault(int signal) { return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT; }

// Calls use(number) for each open descriptor, in order; `use` may close it. Returns false if /proc is not mounted.
template <typename Use>
bool for_each_descriptor(Use use) noexcept {
  // The layout of getdents64: struct linux_dirent64, in which the name follows these fields.
  constexpr std::size_t kEntryBytes = 16;
  constexpr std::size_t kEntryName = 19;
  const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(std::uint64_t) std::array<char, 4096> entries;
  long size = 0;
  while ((size = syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0) {
    std::uint16_t bytes = 0;
    for (long place = 0; place < size; place += bytes) {
      const char* const entry = entries.data() + place;
      std::memcpy(&bytes, entry + kEntryBytes, sizeof(bytes));
      const char* const name = entry + kEntryName;
      int descriptor = -1;
      if (std::from_chars(name, name + std::strlen(name), descriptor).ec == std::errc() && descriptor != folder) use(descriptor);
    }
  }
  close(folder);
  return size == 0;
}

// For kernels before 5.9, which close one descriptor at a time.
void close_one_by_one(int first, int last) noexcept {
  const auto close_within = [first, last](int descriptor) {
    if (descriptor >= first && descriptor <= last) close(descriptor);
  };
  if (for_each_descriptor(close_within)) return;
  constexpr int kMost = 4'096;  // that a recorder has open
  for (int descriptor = first; descriptor <= std::min(last, kMost); ++descriptor) close(descriptor);
}

void close_between(int first, unsigned last) noexcept {
  if (syscall(SYS_close_range, first, last, 0) != 0) close_one_by_one(first, static_cast<int>(last & 0x7fff'ffffu));
}

}  // namespace

bool start_process_beside(const std::function<void()>& work) {
  const pid_t between = fork();
  if (between < 0) return false;
  if (between == 0) {
    const pid_t process = fork();
    if (process != 0) _exit(process > 0 ? 0 : errno);
    work();
    _exit(0);
  }
  int status = 1;
  while (waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) errno = WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
  return status == 0;
}

void ignore_signals() noexcept {
  sigset_t none;
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal)
    if (signal != SIGCHLD && signal != SIGCONT && !is_fault(signal)) std::signal(signal, SIG_IGN);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_descriptors(int first, std::span<const int> kept) noexcept {
  std::array<int, 4> sorted{};
  assert(kept.size() <= sorted.size());
  const std::span in_order = std::span(sorted).first(std::min(kept.size(), sorted.size()));
  std::copy_n(kept.begin(), in_order.size(), in_order.begin());
  std::sort(in_order.begin(), in_order.end());
  for (const int descriptor : in_order) {
    if (descriptor > first) close_between(first, static_cast<unsigned>(descriptor) - 1);
    first = std::max(first, descriptor + 1);
  }
  close_between(first, ~0u);
}

}  // namespace lanescope::session
