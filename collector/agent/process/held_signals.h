// The program's signal handlers do not run on this thread for a while: they could call the agent, or leave by a jump what it has begun.
#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>

#include "agent/core/system_calls.h"

namespace lanescope::agent {

// All but faults, and but the one by which the C library asks each thread to take on another user, and waits for all.
inline constexpr std::uint64_t kHeldSignals = [] {
  constexpr int kSetUser = 33;
  std::uint64_t held = ~std::uint64_t{0};
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT, kSetUser}) held &= ~(std::uint64_t{1} << (signal - 1));
  return held;
}();

class [[nodiscard]] HeldSignals {
 public:
  HeldSignals() noexcept : before_(hold()) {}
  ~HeldSignals() { give_back(before_); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // By hand, where the beginning and the end lie in two functions. Returns which were held before, for give_back().
  static std::uint64_t hold() noexcept { return change(kHeldSignals); }
  static void give_back(std::uint64_t before) noexcept { change(before); }

 private:
  static std::uint64_t change(std::uint64_t mask) noexcept {
    std::uint64_t before = 0;
    system::system_call(SYS_rt_sigprocmask, SIG_SETMASK, system::word(&mask), system::word(&before), sizeof(mask));
    return before;
  }

  std::uint64_t before_;
};

}  // namespace lanescope::agent
