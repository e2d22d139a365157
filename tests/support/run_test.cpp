// run_test COMMAND [ARGUMENT...]: runs a test and ends as the test does. Before that, it kills and names all processes that the test left running. So a test
// that fails in the middle leaves no program behind that holds the pipe that ctest waits for.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

namespace {

constexpr int kNotStarted = 127;

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// Orphaned processes of the test become children of this process, and so do the children of a child that is killed here.
void end_children() {
  std::set<pid_t> named;
  const std::string list = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  constexpr int kMostLooks = 1'000;  // 10 s; a process of another user can't be ended
  for (int looks = 0; looks < kMostLooks; ++looks) {
    std::ifstream children(list);
    for (pid_t pid = 0; children >> pid;) {
      siginfo_t state{};
      const bool has_ended = waitid(P_PID, static_cast<id_t>(pid), &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == pid;
      if (!has_ended && named.insert(pid).second)
        std::fprintf(stderr, "run_test: the test left %s (process %d) running\n", name_of(pid).c_str(), static_cast<int>(pid));
      kill(pid, SIGKILL);
    }
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    usleep(10'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return kNotStarted;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t runner = getpid();
  const pid_t test = fork();
  if (test == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // if ctest runs out of patience
    if (getppid() != runner) return kNotStarted;
    execvp(argv[1], argv + 1);
    std::fprintf(stderr, "run_test: %s can't be started: %s\n", argv[1], std::strerror(errno));
    _exit(kNotStarted);
  }
  if (test < 0) return kNotStarted;
  int status = 0;
  for (pid_t ended = 0; ended != test;) ended = waitpid(-1, &status, 0);  // also reaps orphans as they end
  end_children();
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  std::signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
