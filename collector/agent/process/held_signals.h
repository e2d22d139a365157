// Holds back the program's signal handlers on this thread for a while, because they could call the agent, or leave what it has begun by a jump. Signals are not
// held if a seccomp filter of the program would end it for that (process/call_filters.h).
#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>

#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"

namespace lanescope::agent {

// All except faults and the signal by which the C library asks each thread to take on another user; it waits for all threads.
inline constexpr std::uint64_t kHeldSignals = [] {
  constexpr int kSetUser = 33;
  std::uint64_t held = ~std::uint64_t{0};
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT, kSetUser}) held &= ~(std::uint64_t{1} << (signal - 1));
  return held;
}();

class [[nodiscard]] HeldSignals {
 public:
  HeldSignals() noexcept : are_held_(may_hold_signals()) {
    if (are_held_) before_ = change(kHeldSignals);
  }
  ~HeldSignals() {
    if (are_held_) change(before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  static std::uint64_t change(std::uint64_t mask) noexcept {
    std::uint64_t before = 0;
    system::system_call(SYS_rt_sigprocmask, SIG_SETMASK, system::word(&mask), system::word(&before), sizeof(mask));
    return before;
  }

  bool are_held_;
  std::uint64_t before_ = 0;
};

}  // namespace lanescope::agent
