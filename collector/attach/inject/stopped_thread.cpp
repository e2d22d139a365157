#include "inject/stopped_thread.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "collector/attach/process_text.h"
#include "inject/fault_watch.h"

namespace lanescope::attach {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kRedZone = 128;  // bytes below the stack pointer that a function may use (System V ABI)
constexpr std::uint64_t kDirectionFlag = 0x400;
constexpr std::size_t kExtendedStateBytes = 32 * 1024;  // more than the largest XSAVE area (AVX-512 and AMX: 11 KB)
constexpr std::uint64_t kNoSystemCall = ~std::uint64_t{0};
constexpr int kSystemCallMark = 0x80;  // in the signal of a stop at a system call (PTRACE_O_TRACESYSGOOD)

// Results with which the kernel marks a system call to be restarted (linux/errno.h).
constexpr long kFirstRestart = -516;
constexpr long kLastRestart = -512;

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }
// Signals of a thread's own faults must not be blocked, or the kernel would remove their handlers. 32 and 33 are used by glibc.
constexpr std::uint64_t kMaskDuringCalls = ~(bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGFPE) | bit(SIGTRAP) | bit(SIGSYS) | bit(32) | bit(33));

// Calls that the kernel ends with EINTR also after a stop without a signal handler, and that have done nothing by then (signal(7)).
bool ends_with_eintr_when_stopped(long number) {
  constexpr std::array kNumbers{SYS_epoll_wait,      SYS_epoll_pwait,  SYS_epoll_pwait2,   SYS_semop,  SYS_semtimedop,
                                SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_uring_enter, SYS_accept, SYS_accept4,
                                SYS_recvfrom,        SYS_recvmsg,      SYS_recvmmsg,       SYS_sendto, SYS_sendmsg};
  return std::find(kNumbers.begin(), kNumbers.end(), number) != kNumbers.end();
}

void pause_briefly() {
  constexpr timespec kPause{0, 20'000};
  nanosleep(&kPause, nullptr);
}

}  // namespace

StoppedThread::StoppedThread(pid_t process, pid_t thread, const RemoteMemory& memory) : process_(process), thread_(thread), memory_(memory) {}

StoppedThread::~StoppedThread() { release(); }

Error StoppedThread::error(const char* what) const {
  return Error{"Thread " + std::to_string(thread_) + " of process " + std::to_string(process_) + " " + what};
}

Result<std::unique_ptr<StoppedThread>> StoppedThread::stop(pid_t process, pid_t thread, const RemoteMemory& memory, milliseconds limit) {
  std::unique_ptr<StoppedThread> stopped(new StoppedThread(process, thread, memory));
  if (ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
    if (errno == ESRCH) return stopped->error("has ended.");
    return stopped->error(errno == EPERM ? "may not be traced: the kernel forbids it (a container, SELinux or another tracer)." : "can't be traced.");
  }
  stopped->is_attached_ = true;
  const Result<void> interrupted = stopped->interrupt(Clock::now() + limit);
  if (!interrupted) return interrupted.error();
  if (ptrace(PTRACE_GETREGS, thread, nullptr, &stopped->registers_) != 0) return stopped->error("has ended.");
  stopped->was_seen_ = true;
  stopped->put_back();
  stopped->stack_ = stopped->registers_.rsp - kRedZone;
  return stopped;
}

// Waits for the next stop. The end of our own child is left for the rest of the program to collect.
StoppedThread::Arrival StoppedThread::wait(Clock::time_point deadline) {
  for (;;) {
    siginfo_t information{};
    const int result = waitid(P_PID, static_cast<id_t>(thread_), &information, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
    if (result != 0 && errno != EINTR) return Arrival::kEnded;
    if (result == 0 && information.si_pid != 0) {
      if (information.si_code == CLD_EXITED || information.si_code == CLD_KILLED || information.si_code == CLD_DUMPED) {
        reap();
        return Arrival::kEnded;
      }
      if (waitpid(thread_, &status_, __WALL | WNOHANG) == thread_ && WIFSTOPPED(status_)) {
        is_stopped_ = true;
        return Arrival::kStopped;
      }
    }
    if (Clock::now() >= deadline) return Arrival::kTimeout;
    pause_briefly();
  }
}

// As the thread's tracer we must collect its end before its parent can, unless we are that parent.
void StoppedThread::reap() {
  is_attached_ = false;
  failed_ = true;
  constexpr std::size_t kParent = 4;  // field of proc(5)
  const auto parent = static_cast<pid_t>(process_stat("/proc/" + std::to_string(process_)).number(kParent));
  if (thread_ != process_ || parent != getpid()) waitpid(thread_, nullptr, __WALL | WNOHANG);
}

Result<void> StoppedThread::interrupt(Clock::time_point deadline) {
  if (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return error("has ended.");
  for (;;) {
    switch (wait(deadline)) {
      case Arrival::kEnded:
        return error("ended before it could be stopped.");
      case Arrival::kTimeout:
        return error("could not be stopped in time: it waits in the kernel.");
      case Arrival::kStopped:
        break;
    }
    const bool is_event = status_ >> 16 == PTRACE_EVENT_STOP;
    if (is_event && WSTOPSIG(status_) == SIGTRAP) break;
    if (is_event) return error("has been stopped by someone else.");
    if (!resume(Until::kNextStop, signal_of_stop())) return error("has ended.");  // a signal came first: it is delivered
  }
  stopped_at_ = Clock::now();
  return {};
}

bool StoppedThread::resume(Until until, int signal) {
  is_stopped_ = false;
  return ptrace(until == Until::kSystemCall ? PTRACE_SYSCALL : PTRACE_CONT, thread_, nullptr, signal) == 0;
}

bool StoppedThread::is_at_system_call() const { return WSTOPSIG(status_) == (SIGTRAP | kSystemCallMark); }

// The signal that stopped the thread, to be delivered when it continues; 0 if the stop had another cause.
int StoppedThread::signal_of_stop() const { return status_ >> 16 != 0 || is_at_system_call() ? 0 : WSTOPSIG(status_); }

std::optional<long> StoppedThread::system_call() const noexcept {
  const auto number = static_cast<long>(registers_.orig_rax);
  return number >= 0 ? std::optional(number) : std::nullopt;
}

Result<std::uint64_t> StoppedThread::reserve(std::size_t bytes) {
  stack_ = (stack_ - bytes) & ~std::uint64_t{15};
  return stack_;
}

Result<std::uint64_t> StoppedThread::place(std::string_view text) {
  std::vector<std::byte> bytes(text.size() + 1);
  std::memcpy(bytes.data(), text.data(), text.size());
  const Result<std::uint64_t> address = reserve(bytes.size());
  if (!memory_.write(*address, bytes)) return error("has no writable stack.");
  return *address;
}

// Saves the state that calls change in addition to the general registers.
Result<void> StoppedThread::prepare_calls() {
  if (is_prepared_) return {};
  state_.extended.resize(kExtendedStateBytes);
  iovec area{state_.extended.data(), state_.extended.size()};
  const auto refusal = [this](const char* what) { return error(errno == ESRCH ? "has ended." : what); };
  if (ptrace(PTRACE_GETREGSET, thread_, NT_X86_XSTATE, &area) != 0) return refusal("does not show its vector registers.");
  state_.extended.resize(area.iov_len);
  if (ptrace(PTRACE_GETSIGMASK, thread_, sizeof state_.signal_mask, &state_.signal_mask) != 0) return refusal("does not show its signal mask.");
  is_prepared_ = true;
  return {};
}

// If this process ended at any step, the thread would continue correctly: it is unchanged, or returns from the call by the frame.
Result<std::uint64_t> StoppedThread::call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments, milliseconds limit) {
  if (failed_) return error("can't be used any more, for a call in it has not returned in time. Try again.");
  if (const Result<void> prepared = prepare_calls(); !prepared) return prepared.error();
  state_.registers = begun_anew(registers_to_continue(), memory_);
  const ReturnFrame frame(return_path_, state_, stack_);
  user_regs_struct registers = registers_;
  unsigned long long* const slots[] = {&registers.rdi, &registers.rsi, &registers.rdx, &registers.rcx, &registers.r8, &registers.r9};
  std::size_t index = 0;
  for (const std::uint64_t argument : arguments) *slots[index++] = argument;
  registers.rsp = frame.address();
  registers.rbp = frame.frame_pointer();
  registers.rip = function;
  registers.rax = 0;                   // no vector arguments
  registers.orig_rax = kNoSystemCall;  // nothing to restart when it continues
  registers.eflags &= ~kDirectionFlag;
  std::uint64_t mask = kMaskDuringCalls;
  if (!memory_.write(frame.address(), frame.bytes())) return error("has no writable stack.");
  if (ptrace(PTRACE_SETREGS, thread_, nullptr, &registers) != 0 || ptrace(PTRACE_SETSIGMASK, thread_, sizeof mask, &mask) != 0 ||
      !resume(Until::kSystemCall, 0)) {
    failed_ = true;
    return error("has ended.");
  }
  const Clock::time_point deadline = Clock::now() + limit;
  Result<void> returned = run_until_returned(frame, deadline);
  if (returned) returned = stop_before_frame(frame, deadline);
  if (!returned) {
    failed_ = true;
    return returned.error();
  }
  const auto result = memory_.read<std::uint64_t>(frame.result());
  put_back();
  if (!result) return error("has ended.");
  return *result;
}

Result<void> StoppedThread::run_until_returned(const ReturnFrame& frame, Clock::time_point deadline) {
  for (;;) {
    switch (wait(deadline)) {
      case Arrival::kEnded:
        return error("ended while the agent was loaded.");
      case Arrival::kTimeout:
        return abandon();
      case Arrival::kStopped:
        break;
    }
    if (is_at_system_call()) {
      user_regs_struct now{};
      if (ptrace(PTRACE_GETREGS, thread_, nullptr, &now) != 0) return error("has ended.");
      if (frame.has_returned(now)) return {};
    }
    if (is_fault(signal_of_stop())) return error("faulted while the agent was loaded; it goes on where it was.");
    if (Clock::now() >= deadline) return abandon();
    // A stop of the whole process takes effect when we release the thread.
    if (!resume(Until::kSystemCall, signal_of_stop())) return error("has ended.");
  }
}

// Prevents the kernel from reading the frame, because it would forget how to continue an interrupted system call. A harmless system call is made
// instead (not -1, for which filters may end a process). Then the thread stops where it would make the prevented call again.
Result<void> StoppedThread::stop_before_frame(const ReturnFrame& frame, Clock::time_point deadline) {
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, thread_, nullptr, &registers) != 0) return error("has ended.");
  registers = frame.one_step_back(registers);
  if (ptrace(PTRACE_SETREGS, thread_, nullptr, &registers) != 0 || ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return error("has ended.");
  do {
    if (!resume(Until::kNextStop, signal_of_stop())) return error("has ended.");
    const Arrival arrival = wait(deadline);
    if (arrival == Arrival::kEnded) return error("ended while the agent was loaded.");
    if (arrival == Arrival::kTimeout) return error("could not be stopped in time.");
  } while (status_ >> 16 != PTRACE_EVENT_STOP);
  return {};
}

// Stops a call that does not return, so that release() can undo it.
Error StoppedThread::abandon() {
  constexpr milliseconds kLimit{2000};
  if (is_stopped_) static_cast<void>(resume(Until::kNextStop, signal_of_stop()));
  user_regs_struct initial = registers_;
  const Clock::time_point stopped_at = stopped_at_;
  static_cast<void>(interrupt(Clock::now() + kLimit));
  registers_ = initial;
  stopped_at_ = stopped_at;
  return error("waits for a lock that another thread holds. Try again.");
}

bool StoppedThread::has_deliverable_signal() const {
  const std::string status = process_text("/proc/" + std::to_string(process_) + "/task/" + std::to_string(thread_) + "/status");
  const auto signals = [&status](std::string_view word) { return std::strtoull(status_value(status, word).c_str(), nullptr, 16); };
  return ((signals("SigPnd:") | signals("ShdPnd:")) & ~signals("SigBlk:")) != 0;
}

// The kernel itself restarts most interrupted system calls if the registers are as they were. The others are made again here, unless a signal is
// about to be handled, for which EINTR is the correct result.
user_regs_struct StoppedThread::registers_to_continue() const {
  user_regs_struct registers = registers_;
  const std::optional<long> number = system_call();
  const auto result = static_cast<long>(registers.rax);
  const bool restarts = result >= kFirstRestart && result <= kLastRestart;
  if (number && !restarts && result == -EINTR && ends_with_eintr_when_stopped(*number) && !has_deliverable_signal()) {
    constexpr std::uint64_t kInstructionBytes = 2;  // syscall
    registers.rax = registers.orig_rax;
    registers.rip -= kInstructionBytes;
    registers.orig_rax = kNoSystemCall;
  }
  return registers;
}

// Restores the state in which the thread stopped. The registers come last: until then the thread would return by the frame.
void StoppedThread::put_back() {
  if (is_prepared_) {
    iovec area{state_.extended.data(), state_.extended.size()};
    ptrace(PTRACE_SETREGSET, thread_, NT_X86_XSTATE, &area);
    ptrace(PTRACE_SETSIGMASK, thread_, sizeof state_.signal_mask, &state_.signal_mask);
  }
  const user_regs_struct registers = registers_to_continue();
  ptrace(PTRACE_SETREGS, thread_, nullptr, &registers);
}

// If a thread was asked to stop and has not stopped yet, it would stop later, forever. So it can be released only after it has stopped. It must also
// be past a system call that it is about to make, because the kernel would use the registers that it is given then for that call.
int StoppedThread::catch_up() {
  constexpr milliseconds kPatience{2000};
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!is_stopped_ || is_at_system_call()) {
    if (is_stopped_ && (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0 || !resume(Until::kNextStop, 0))) return 0;
    if (wait(deadline) != Arrival::kStopped) return 0;
  }
  const bool is_fault_of_call = was_seen_ && is_fault(signal_of_stop());
  return is_fault_of_call ? 0 : signal_of_stop();
}

std::chrono::nanoseconds StoppedThread::release() {
  if (!is_attached_) return {};
  const int signal_on_its_way = catch_up();
  if (!is_attached_) return {};  // it ended meanwhile
  if (was_seen_) put_back();
  ptrace(PTRACE_DETACH, thread_, nullptr, signal_on_its_way);
  is_attached_ = false;
  return was_seen_ ? Clock::now() - stopped_at_ : std::chrono::nanoseconds{0};
}

}  // namespace lanescope::attach
