#include "agent/cupti/exit_hook.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <dlfcn.h>

#include "agent/cupti/library/injection.h"
#include "agent/process/handlers.h"

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
  // The functions that the program calls, not the agent's own.
  void* const plain = dlsym(RTLD_NEXT, "_exit");
  void* const standard = dlsym(RTLD_NEXT, "_Exit");
  if (plain == nullptr) return;
  real_exit.store(reinterpret_cast<void (*)(int)>(plain), std::memory_order_relaxed);
  constexpr std::size_t kMostOfExec = 16;
  constexpr std::size_t kExits = 2;
  const auto signals = handler_redirections();
  void* const to = reinterpret_cast<void*>(&exit_after_finish);
  Redirection redirections[kExits + signals.size() + kMostOfExec] = {{"_exit", plain, to, is_found_in_c_library("_exit", nullptr)},
                                                                     {"_Exit", standard, to, is_found_in_c_library("_Exit", nullptr)}};
  Redirection* const execs = std::copy(signals.begin(), signals.end(), redirections + kExits);
  std::copy_n(exec_redirections.begin(), std::min(exec_redirections.size(), kMostOfExec), execs);
  static constinit CallSlots slots;
  slots.redirect(redirections);  // the unused entries of the array redirect nothing
}

}  // namespace lanescope::agent::cupti
