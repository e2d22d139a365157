// Traces one thread of another process so that its faults do not end that process: the thread stops where it faulted, and continues where we say.
//
// All functions must be called from the thread that called start(): ptrace belongs to it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace lanescope::attach {

// True if the signal reports a fault of a thread's own code.
bool is_fault(int signal);

struct Fault {
  int signal = 0;
  user_regs_struct registers{};  // at the fault
};

class FaultWatch {
 public:
  // Null if the thread may not be traced: its faults then end the process.
  static std::unique_ptr<FaultWatch> start(pid_t process, pid_t thread);

  // Waits for a moment for the end of the thread, which has been asked to end.
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  // The fault at which the thread has stopped, or nothing. Other stops and signals take their normal course. Returns at once.
  std::optional<Fault> look();
  // Continues after a fault; its signal is dropped.
  void go_on_at(const user_regs_struct& registers);

 private:
  FaultWatch(pid_t process, pid_t thread) : process_(process), thread_(thread) {}
  bool see_change(int& status);

  pid_t process_;
  pid_t thread_;
  bool has_ended_ = false;
};

}  // namespace lanescope::attach
