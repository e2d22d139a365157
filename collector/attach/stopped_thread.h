// One thread of another process, stopped by ptrace, that can be made to call functions.
//
// All functions must be called from the thread that called stop(): ptrace belongs to it, and the kernel lets go what it still holds when it
// ends. Only this one thread is stopped. While it is, signals for it stay pending, except those of its own faults and of the C library
// (setuid() in another thread waits for these).
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
#include <vector>

#include "model/file/result.h"
#include "remote_calls.h"
#include "remote_memory.h"

namespace lanescope::attach {

class StoppedThread : public RemoteCalls {
 public:
  using Clock = std::chrono::steady_clock;

  // Fails when it can't be stopped within the limit; it then runs on.
  static Result<std::unique_ptr<StoppedThread>> stop(pid_t process, pid_t thread, const RemoteMemory& memory,
                                                     std::chrono::milliseconds limit);

  // release()s it when that has not been done.
  ~StoppedThread() override;
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

  [[nodiscard]] pid_t thread() const noexcept { return thread_; }
  // As they were when it stopped.
  [[nodiscard]] const user_regs_struct& registers() const noexcept { return registers_; }
  // The system call that was interrupted or just done; none when it was in user code.
  [[nodiscard]] std::optional<long> system_call() const noexcept;

  // On this thread's stack, below what is in use. A function that faults fails, too.
  Result<std::uint64_t> call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments,
                             std::chrono::milliseconds limit) override;
  Result<std::uint64_t> place(std::string_view text) override;
  Result<std::uint64_t> reserve(std::size_t bytes) override;

  // Puts everything back and lets it run; returns how long it was stopped. A system call that was interrupted is continued.
  std::chrono::nanoseconds release();

 private:
  StoppedThread(pid_t process, pid_t thread, const RemoteMemory& memory);

  enum class Arrival { kStopped, kEnded, kTimeout };
  Arrival wait(Clock::time_point deadline);
  Result<void> interrupt(Clock::time_point deadline);
  Result<void> prepare_calls();
  Result<void> run_until_returned(Clock::time_point deadline);
  bool resume(int signal);
  [[nodiscard]] user_regs_struct registers_to_continue() const;
  [[nodiscard]] bool has_deliverable_signal() const;
  void abandon();
  int catch_up();
  void reap();
  [[nodiscard]] Error error(const char* what) const;

  pid_t process_;
  pid_t thread_;
  const RemoteMemory& memory_;
  Clock::time_point stopped_at_{};
  user_regs_struct registers_{};
  std::vector<std::byte> extended_state_;  // vector registers
  std::uint64_t signal_mask_ = 0;
  std::uint64_t stack_ = 0;  // lowest address in use
  bool is_attached_ = false;
  bool is_stopped_ = false;
  bool was_seen_ = false;     // registers_ are known
  bool is_prepared_ = false;  // calls may have changed registers
  bool failed_ = false;
  int status_ = 0;  // of the last stop, as of waitpid
};

}  // namespace lanescope::attach
