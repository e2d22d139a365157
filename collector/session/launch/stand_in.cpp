#include "launch/stand_in.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>

#include "processes/proc.h"

namespace lanescope::session {
namespace {

// Signals of the terminal have reached the child as well, which is in our process group.
bool is_for_us_alone(const siginfo_t& signal) { return signal.si_signo != SIGCHLD && signal.si_code != SI_KERNEL; }

// Stops as the child is stopped, until the shell continues both. The kernel does not stop us if there is no shell that would.
void stop_like_child() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // it stops us here
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

[[noreturn]] void end_as(const ExitStatus& ended) {
  if (ended.signal != 0) _exit(128 + ended.signal);
  _exit(ended.code == EXIT_SUCCESS ? EXIT_FAILURE : ended.code);
}

}  // namespace

void stand_for(pid_t child) {
  constexpr timespec kLook{0, 100'000'000};  // another thread of ours may have taken the signal of the child's end
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  pthread_sigmask(SIG_BLOCK, nullptr, &awaited);
  for (;;) {
    int status = 0;
    const pid_t seen = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (seen == child && !WIFSTOPPED(status)) end_as(to_exit_status(status));
    if (seen == child && WSTOPSIG(status) != SIGSTOP) stop_like_child();
    siginfo_t signal{};
    if (sigtimedwait(&awaited, &signal, &kLook) > 0 && is_for_us_alone(signal)) kill(child, signal.si_signo);
  }
}

Error run_unrecorded(const LaunchPlan& plan) {
  Result<WaitingProcess> process = WaitingProcess::start(plan);
  if (!process) return become_program(plan);
  const pid_t pid = process->pid();
  if (const Result<void> released = process->release(); !released) return released.error();
  stand_for(pid);
}

}  // namespace lanescope::session
