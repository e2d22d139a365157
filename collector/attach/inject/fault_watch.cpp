#include "inject/fault_watch.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <ctime>

namespace lanescope::attach {

bool is_fault(int signal) { return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP || signal == SIGSYS; }

std::unique_ptr<FaultWatch> FaultWatch::start(pid_t process, pid_t thread) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return nullptr;
  return std::unique_ptr<FaultWatch>(new FaultWatch(process, thread));
}

FaultWatch::~FaultWatch() {
  constexpr int kLooks = 2'000;  // of 50 us each
  for (int i = 0; i < kLooks && !has_ended_; ++i) {
    static_cast<void>(look());
    constexpr timespec kPause{0, 50'000};
    if (!has_ended_) nanosleep(&kPause, nullptr);
  }
}

// Returns true if the thread has stopped. We must also collect its end, unless it is the end of our own child.
bool FaultWatch::see_change(int& status) {
  siginfo_t information{};
  if (has_ended_ || waitid(P_PID, static_cast<id_t>(thread_), &information, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0) {
    has_ended_ = true;
    return false;
  }
  if (information.si_pid == 0) return false;
  has_ended_ = information.si_code == CLD_EXITED || information.si_code == CLD_KILLED || information.si_code == CLD_DUMPED;
  if (has_ended_ && thread_ == process_) return false;
  return waitpid(thread_, &status, __WALL | WNOHANG) == thread_ && WIFSTOPPED(status);
}

std::optional<Fault> FaultWatch::look() {
  int status = 0;
  if (!see_change(status)) return std::nullopt;
  const int signal = WSTOPSIG(status);
  const bool is_event = status >> 16 != 0;
  Fault fault{signal, {}};
  if (!is_event && is_fault(signal) && ptrace(PTRACE_GETREGS, thread_, nullptr, &fault.registers) == 0) return fault;
  ptrace(PTRACE_CONT, thread_, nullptr, is_event ? 0 : signal);
  return std::nullopt;
}

void FaultWatch::go_on_at(const user_regs_struct& registers) {
  ptrace(PTRACE_SETREGS, thread_, nullptr, &registers);
  ptrace(PTRACE_CONT, thread_, nullptr, 0);
}

}  // namespace lanescope::attach
