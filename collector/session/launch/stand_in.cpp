#include "launch/stand_in.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "collector/session/end_by_signal.h"
#include "collector/session/inheritance.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

// Signals of the terminal have reached the child as well, which is in our process group.
std::optional<SignalReceiver> receiver_of(const siginfo_t& signal, pid_t child, const LaunchRequest& request) {
  if (request.receiver_of) return request.receiver_of(signal, child);
  return signal.si_code == SI_KERNEL ? std::nullopt : std::optional(SignalReceiver::kTarget);
}

void pass_on(const siginfo_t& signal, pid_t child, const LaunchRequest& request) {
  const std::optional<SignalReceiver> receiver = receiver_of(signal, child, request);
  if (!receiver) return;
  const bool leads_group = *receiver == SignalReceiver::kGroup && getpgid(child) == child;
  kill(leads_group ? -child : child, signal.si_signo);
}

void leave_input_and_output() {
  let_go_of_standard_input();
  let_go_of_standard_output();
}

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
  if (ended.signal != 0) end_by_signal(ended.signal);
  if (ended.signal != 0) _exit(128 + ended.signal);  // the first process of a container is not ended by it
  _exit(ended.code == EXIT_SUCCESS ? EXIT_FAILURE : ended.code);
}

}  // namespace

void stand_for(pid_t child, const LaunchRequest& request) {
  constexpr timespec kLook{0, 100'000'000};  // another thread of ours may have taken the signal of the child's end
  leave_input_and_output();
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
    if (sigtimedwait(&awaited, &signal, &kLook) > 0 && signal.si_signo != SIGCHLD) pass_on(signal, child, request);
  }
}

Error run_unrecorded(const LaunchPlan& plan, const LaunchRequest& request) {
  Result<WaitingProcess> process = WaitingProcess::start(plan);
  if (!process) return become_program(plan);
  const pid_t pid = process->pid();
  if (request.process_made) request.process_made(pid);
  leave_input_and_output();  // the child has them, and may close them as soon as it runs
  if (request.given_descriptors == GivenDescriptors::kAreForProgram) let_go_of_other_descriptors();
  if (const Result<void> released = process->release(); !released) return released.error();
  stand_for(pid, request);
}

}  // namespace lanescope::session
