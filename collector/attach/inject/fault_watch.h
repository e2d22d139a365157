// Keeps faults of one thread of another process from ending that process, as the thread's tracer: it stands still where it faulted, and
// goes on where we say.
//
// All functions must be called from the thread that called start(): ptrace belongs to it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace lanescope::attach {

// Whether it says that what a thread does went wrong.
bool is_fault(int signal);

struct Fault {
  int signal = 0;
  user_regs_struct registers{};  // where it happened
};

class FaultWatch {
 public:
  // Null where the thread may not be traced: its faults then end the process.
  static std::unique_ptr<FaultWatch> start(pid_t process, pid_t thread);

  // Waits for the end of the thread, which has been asked to end, for a moment.
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  // The fault at which it stands still now, else none. Other stops and signals of it take their course. Returns at once.
  std::optional<Fault> look();
  // Behind a fault: it forgets the signal.
  void go_on_at(const user_regs_struct& registers);

 private:
  FaultWatch(pid_t process, pid_t thread) : process_(process), thread_(thread) {}
  bool see_change(int& status);

  pid_t process_;
  pid_t thread_;
  bool has_ended_ = false;
};

}  // namespace lanescope::attach
