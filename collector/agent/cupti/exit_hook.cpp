#include "agent/cupti/exit_hook.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <unistd.h>

#include "agent/cupti/injection.h"

namespace lanescope::agent::cupti {

constinit std::span<const Redirection> exec_redirections;

namespace {

constinit std::atomic<bool> is_done{false};
constinit std::atomic<void (*)(int)> real_exit{nullptr};

[[noreturn]] void exit_after_finish(int code) {
  finish();
  real_exit.load(std::memory_order_relaxed)(code);
  __builtin_unreachable();
}

}  // namespace

void finish_before_exits() noexcept {
  if (is_done.exchange(true)) return;
  at_quick_exit([] { finish(); });
  real_exit.store(&_exit, std::memory_order_relaxed);
  constexpr std::size_t kMostOfExec = 16;
  void* const to = reinterpret_cast<void*>(&exit_after_finish);
  Redirection redirections[2 + kMostOfExec] = {{"_exit", reinterpret_cast<void*>(&_exit), to},
                                               {"_Exit", reinterpret_cast<void*>(&_Exit), to}};
  std::copy_n(exec_redirections.begin(), std::min(exec_redirections.size(), kMostOfExec), redirections + 2);
  CallSlots().redirect(redirections);  // what is left of the array redirects nothing
}

}  // namespace lanescope::agent::cupti
