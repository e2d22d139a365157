#include "session/first_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "collector/session/process_beside.h"
#include "session/group_witness.h"

namespace lanescope::cli {
namespace {

// Ends with the recorder. Stopped processes are not waited for.
void wait_for_ended(pid_t recorder) {
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
    if (ended == recorder) _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

[[noreturn]] void serve_as_first(pid_t recorder) {
  session::close_descriptors(0);
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    wait_for_ended(recorder);
    siginfo_t signal{};
    if (sigwaitinfo(&all, &signal) < 0 || signal.si_signo == SIGCHLD) continue;
    if (!is_from_terminal_to_all(signal)) kill(recorder, signal.si_signo);
  }
}

}  // namespace

void leave_first_process() {
  if (getpid() != 1) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t recorder = fork();
  if (recorder > 0) serve_as_first(recorder);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace lanescope::cli
