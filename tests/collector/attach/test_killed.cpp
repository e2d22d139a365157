// A target whose attacher is killed goes on as if nobody had attached.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#include "collector/attach/inject.h"
#include "running_target.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::attach;
using namespace std::chrono_literals;
using test::RunningTarget;

namespace {

constexpr int kAttached = 0;
constexpr int kRefused = 1;
constexpr int kWasKilled = 2;
constexpr int kBusy = 3;

bool may_attach_to_siblings() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (geteuid() == 0 || scope == 0) return true;
  WARN("Processes that are no children may not be attached to here: not tested.");
  return false;
}

// Lets its tracer see its requests to the target: ptrace and pwrite64.
void announce_requests() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 1, 0),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(kRefused);
}

[[noreturn]] void attach_and_exit(pid_t target, Loader loader) {
  raise(SIGSTOP);  // until it is traced
  announce_requests();
  const Result<Injection> injection = inject({.pid = target, .agent = LANESCOPE_GREETING_AGENT, .patience = 60s, .loader = loader});
  if (injection) _exit(kAttached);
  if (injection.error().text.ends_with("Try again.")) _exit(kBusy);
  std::fprintf(stderr, "%s\n", injection.error().text.c_str());  // the only hint of the reason
  _exit(kRefused);
}

// Kills the attacher at the n-th moment. Moments are directly before and after each request.
[[noreturn]] void watch_and_exit(pid_t attacher, int n) {
  int status = 0;
  waitpid(attacher, &status, WUNTRACED);
  constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, attacher, nullptr, kOptions) != 0) _exit(kRefused);
  kill(attacher, SIGCONT);
  int moments = 0;
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (thread == attacher) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : kWasKilled);
      continue;
    }
    const bool is_before = status >> 16 == PTRACE_EVENT_SECCOMP;
    const bool is_behind = WSTOPSIG(status) == (SIGTRAP | 0x80);
    if ((is_before || is_behind) && ++moments == n) {
      kill(attacher, SIGKILL);
      continue;
    }
    const bool is_signal = status >> 16 == 0 && !is_behind;
    ptrace(is_before ? PTRACE_SYSCALL : PTRACE_CONT, thread, nullptr, is_signal ? WSTOPSIG(status) : 0);
  }
  _exit(kRefused);
}

// How attaching ended: kAttached if there were fewer than n moments.
int attach_killed_at(int n, pid_t target, Loader loader) {
  const pid_t watcher = fork();
  if (watcher == 0) {
    const pid_t attacher = fork();
    if (attacher == 0) attach_and_exit(target, loader);
    watch_and_exit(attacher, n);
  }
  int status = 0;
  waitpid(watcher, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kRefused;
}

void end(RunningTarget& target) {
  target.send("hello");
  target.close_input();
  std::string output;
  const int status = target.finish(output);
  CHECK(output == "undisturbed\n");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

// Returns how many moments there were.
int kill_at_each(const char* mode, Loader loader) {
  constexpr int kMostBusy = 20;
  int busy = 0;
  for (int n = 1;; ++n) {
    CAPTURE(mode, n);
    RunningTarget target({test::program("attach_target").string(), mode});
    target.wait_for_threads(std::string(mode) == "futex" ? 2 : 1);
    if (std::string(mode) == "read") target.wait_until_in(SYS_read);
    const int how = attach_killed_at(n, target.pid(), loader);
    REQUIRE(how != kRefused);
    end(target);
    if (how == kBusy) {  // refused for now, as on a machine that is too busy for the time limits
      REQUIRE(++busy <= kMostBusy);
      --n;
      continue;
    }
    if (how != kWasKilled) return n;
  }
}

}  // namespace

TEST_CASE("a program whose recorder is killed at any moment of attaching goes on undisturbed") {
  if (LANESCOPE_FOLLOWS_STACKS == 0 || !may_attach_to_siblings()) return;
  const char* const mode = GENERATE("state", "handler", "naps", "read", "futex");
  CHECK(kill_at_each(mode, Loader::kNewThread) > 100);
}

TEST_CASE("so does one whose own thread loads the agent") {
  if (LANESCOPE_FOLLOWS_STACKS == 0 || !may_attach_to_siblings()) return;
  CHECK(kill_at_each("state", Loader::kStoppedThread) > 200);
}
