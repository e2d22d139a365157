// Ways of reading, writing and showing what was inherited.
#include "lives.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace lives {
namespace {

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

// Prints what it has inherited: limits, signals, descriptors.
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

// Prints a line for each signal that comes, until SIGTERM.
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

}  // namespace

std::vector<Way> talking() {
  return {
      {"copy", copies_input},     {"lines", prints_lines}, {"write", writes_a_file}, {"inherited", shows_what_it_inherited, Begin::kWithItsWay},
      {"signals", shows_signals}, {"wait", waits},
  };
}

}  // namespace lives
