// One thread of another process that is stopped by ptrace and can be made to call functions.
//
// All functions must be called from the thread that called stop(): ptrace is bound to it, and when it ends, the kernel releases everything that it
// still holds. Only this one thread is stopped. Meanwhile signals for it stay pending, except those of its own faults and of the C library (setuid()
// in another thread waits for these).
//
// If this process is killed meanwhile, the thread finishes the call that it is making and continues where it was (return_frame.h). Only a call that
// faults would then end it.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "inject/remote_calls.h"
#include "inject/remote_memory.h"
#include "inject/return_frame.h"
#include "model/file/result.h"

namespace lanescope::attach {

class StoppedThread : public RemoteCalls {
 public:
  using Clock = std::chrono::steady_clock;

  // Fails if the thread can't be stopped within the limit; it then runs on.
  static Result<std::unique_ptr<StoppedThread>> stop(pid_t process, pid_t thread, const RemoteMemory& memory, std::chrono::milliseconds limit);

  // Calls release() if that has not been done.
  ~StoppedThread() override;
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

  [[nodiscard]] pid_t thread() const noexcept { return thread_; }
  // The registers at the stop.
  [[nodiscard]] const user_regs_struct& registers() const noexcept { return registers_; }
  // The system call that was interrupted or has just been made; nothing if the thread was in user code.
  [[nodiscard]] std::optional<long> system_call() const noexcept;

  // Sets the way by which calls return; required before the first call.
  void return_by(const ReturnPath& path) { return_path_ = path; }

  // Calls on this thread's stack, below the part in use. A call also fails if the function faults.
  Result<std::uint64_t> call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments, std::chrono::milliseconds limit) override;
  Result<std::uint64_t> place(std::string_view text) override;
  Result<std::uint64_t> reserve(std::size_t bytes) override;

  // Restores everything and lets the thread run; returns how long it was stopped. An interrupted system call is continued.
  std::chrono::nanoseconds release();

 private:
  StoppedThread(pid_t process, pid_t thread, const RemoteMemory& memory);

  enum class Arrival { kStopped, kEnded, kTimeout };
  Arrival wait(Clock::time_point deadline);
  Result<void> interrupt(Clock::time_point deadline);
  Result<void> prepare_calls();
  Result<void> run_until_returned(const ReturnFrame& frame, Clock::time_point deadline);
  Result<void> stop_before_frame(const ReturnFrame& frame, Clock::time_point deadline);
  void put_back();
  enum class Until { kNextStop, kSystemCall };
  bool resume(Until until, int signal);
  [[nodiscard]] bool is_at_system_call() const;
  [[nodiscard]] int signal_of_stop() const;
  [[nodiscard]] user_regs_struct registers_to_continue() const;
  [[nodiscard]] bool has_deliverable_signal() const;
  Error abandon();
  int catch_up();
  void reap();
  [[nodiscard]] Error error(const char* what) const;

  pid_t process_;
  pid_t thread_;
  const RemoteMemory& memory_;
  Clock::time_point stopped_at_{};
  user_regs_struct registers_{};
  ReturnPath return_path_;
  ThreadState state_;        // calls return to this state
  std::uint64_t stack_ = 0;  // lowest address in use
  bool is_attached_ = false;
  bool is_stopped_ = false;
  bool was_seen_ = false;     // registers_ is known
  bool is_prepared_ = false;  // calls may have changed registers
  bool failed_ = false;
  int status_ = 0;  // of the last stop, as returned by waitpid
};

}  // namespace lanescope::attach
