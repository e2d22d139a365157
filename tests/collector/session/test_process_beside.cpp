#include "collector/session/process_beside.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "support/catch.h"

using namespace lanescope::session;

namespace {

// Makes close_range() missing, as on a kernel before 5.9.
bool take_close_range_away() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
         syscall(SYS_close_range, 1'000'000u, 1'000'000u, 0u) != 0;
}

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("all descriptors are closed but those that are kept, on any kernel") {
  const bool is_old_kernel = GENERATE(false, true);
  CAPTURE(is_old_kernel);
  const pid_t child = fork();
  if (child == 0) {
    if (is_old_kernel && !take_close_range_away()) _exit(2);
    constexpr int kHighest = 900;
    for (int descriptor = 100; descriptor < kHighest; ++descriptor) dup2(STDIN_FILENO, descriptor);
    const std::vector<int> kept{700, 101, 700};
    close_descriptors(STDERR_FILENO + 1, kept);
    bool holds = is_open(STDERR_FILENO);
    for (int descriptor = STDERR_FILENO + 1; descriptor <= kHighest; ++descriptor)
      holds = holds && is_open(descriptor) == (descriptor == 101 || descriptor == 700);
    close_descriptors(0);
    _exit(holds && !is_open(STDERR_FILENO) && !is_open(101) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a process beside us is nobody's to wait for, and ends with its work") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(start_process_beside([&] {
    const pid_t parent = getppid();
    static_cast<void>(!write(ends[1], &parent, sizeof(parent)));
  }));
  close(ends[1]);
  pid_t parent = 0;
  CHECK(read(ends[0], &parent, sizeof(parent)) == static_cast<ssize_t>(sizeof(parent)));
  CHECK(parent != getpid());
  CHECK(read(ends[0], &parent, sizeof(parent)) == 0);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  close(ends[0]);
}
