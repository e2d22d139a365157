#include "agent/process/handlers.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <dlfcn.h>

namespace lanescope::agent {
namespace {

using Handler = void (*)(int, siginfo_t*, void*);

// A function of the C library, not ours of that name.
struct Real {
  const char* name;
  std::atomic<void*> place{nullptr};

  void* address() noexcept {
    void* known = place.load(std::memory_order_relaxed);
    if (known == nullptr) place.store(known = dlsym(RTLD_NEXT, name), std::memory_order_relaxed);
    return known;
  }
};
constinit Real real_sigaction{"sigaction"};
constinit Real real_signal{"signal"};
constinit Real real_sysv_signal{"__sysv_signal"};
constinit Real real_sigset{"sigset"};

struct Stand {
  std::atomic<Handler> handler{nullptr};  // ours; null: the program's signal is left alone
  SignalAction own{};                     // these two are written before the handler, and never again
  SignalAction before{};
};
constinit Stand stands[NSIG] = {};

Stand* stand_of(int signal) noexcept {
  if (signal <= 0 || signal >= NSIG || stands[signal].handler.load(std::memory_order_acquire) == nullptr) return nullptr;
  return &stands[signal];
}

bool is_own(const Stand& stand, const SignalAction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == stand.handler.load(std::memory_order_relaxed);
}

// True if the kernel treats them as the same.
bool are_same(const SignalAction& one, const SignalAction& other) noexcept {
  if (is_default(one) || is_default(other)) return is_default(one) && is_default(other);
  constexpr int kFlags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_RESETHAND | SA_NOCLDSTOP | SA_NOCLDWAIT;
  constexpr std::size_t kMaskBytes = (NSIG - 1) / 8;
  return one.sa_handler == other.sa_handler && (one.sa_flags & kFlags) == (other.sa_flags & kFlags) &&
         std::memcmp(&one.sa_mask, &other.sa_mask, kMaskBytes) == 0;
}

sighandler_t set_handler(Real& real, int signal, sighandler_t handler) noexcept {
  const auto next = reinterpret_cast<sighandler_t (*)(int, sighandler_t)>(real.address());
  const Stand* const stand = stand_of(signal);
  const sighandler_t result = next(signal, handler);
  if (stand == nullptr || result == SIG_ERR) return result;
  // A restored earlier action is treated as in program_sigaction().
  if (handler == SIG_DFL && is_default(stand->before)) set_action(signal, &stand->own, nullptr);
  return result == reinterpret_cast<sighandler_t>(reinterpret_cast<void (*)()>(stand->handler.load(std::memory_order_relaxed))) ? stand->before.sa_handler
                                                                                                                                : result;
}

constinit std::array<Redirection, 8> calls_of_handlers{};

// While the agent is loaded: a look-up later could wait for a thread that loads a library and waits for us.
__attribute__((constructor)) void find_handler_calls() {
  const auto redirection = [](const char* name, Real& real, auto* to) {
    return Redirection{name, real.address(), reinterpret_cast<void*>(to), is_found_in_c_library(name, nullptr)};
  };
  calls_of_handlers = {{redirection("sigaction", real_sigaction, program_sigaction), redirection("__sigaction", real_sigaction, program_sigaction),
                        redirection("signal", real_signal, program_signal), redirection("bsd_signal", real_signal, program_signal),
                        redirection("ssignal", real_signal, program_signal), redirection("sysv_signal", real_sysv_signal, program_sysv_signal),
                        redirection("__sysv_signal", real_sysv_signal, program_sysv_signal), redirection("sigset", real_sigset, program_sigset)}};
}

}  // namespace

int set_action(int signal, const SignalAction* action, SignalAction* before) noexcept {
  return reinterpret_cast<int (*)(int, const SignalAction*, SignalAction*)>(real_sigaction.address())(signal, action, before);
}

bool is_default(const SignalAction& action) noexcept { return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL; }

bool stand_before(int signal, const SignalAction& own, const SignalAction& before) noexcept {
  Stand& stand = stands[signal];
  stand.own = own;
  stand.before = before;
  stand.handler.store(own.sa_sigaction, std::memory_order_release);
  SignalAction replaced{};
  if (set_action(signal, &own, &replaced) != 0) return false;
  if (are_same(replaced, before)) return true;
  set_action(signal, &replaced, nullptr);
  return false;
}

const SignalAction& action_before(int signal) noexcept { return stands[signal].before; }

int program_sigaction(int signal, const SignalAction* action, SignalAction* before) noexcept {
  const Stand* const stand = stand_of(signal);
  if (stand == nullptr) return set_action(signal, action, before);
  SignalAction seen{};
  const int result = set_action(signal, action != nullptr && are_same(*action, stand->before) ? &stand->own : action, &seen);
  if (result == 0 && before != nullptr) *before = is_own(*stand, seen) ? stand->before : seen;
  return result;
}

sighandler_t program_signal(int signal, sighandler_t handler) noexcept { return set_handler(real_signal, signal, handler); }
sighandler_t program_sysv_signal(int signal, sighandler_t handler) noexcept { return set_handler(real_sysv_signal, signal, handler); }
sighandler_t program_sigset(int signal, sighandler_t handler) noexcept { return set_handler(real_sigset, signal, handler); }

std::array<Redirection, 8> handler_redirections() noexcept { return calls_of_handlers; }

}  // namespace lanescope::agent
