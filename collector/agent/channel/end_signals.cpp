#include "agent/channel/end_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "agent/core/system_calls.h"

// Of strict ISO C programs; the header names it for these alone.
extern "C" sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept;

namespace lanescope::agent {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

constinit std::atomic<void (*)()> work{nullptr};
constinit std::atomic<std::int32_t> process{0};
constinit std::atomic<bool> is_ending{false};

bool is_followed(int signal) noexcept {
  for (const int each : kSignals)
    if (each == signal) return true;
  return false;
}

// The signal comes again once its handler returns.
void end_by(int signal, siginfo_t* information) noexcept {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  system::system_call(SYS_rt_tgsigqueueinfo, system::process_id(), system::thread_id(), signal, system::word(information));
}

void on_signal(int signal, siginfo_t* information, void*) noexcept {
  const int saved_errno = errno;
  if (system::process_id() == process.load(std::memory_order_relaxed) && !is_ending.exchange(true)) work.load(std::memory_order_acquire)();
  end_by(signal, information);
  errno = saved_errno;
}

struct sigaction own_action() noexcept {
  struct sigaction own {};
  own.sa_sigaction = on_signal;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&own.sa_mask);
  return own;
}

bool is_standard(const struct sigaction& action) noexcept { return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL; }
bool is_own(const struct sigaction& action) noexcept { return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal; }

// ---- What the program calls ---------------------------------------------------------------------------------------------------------

int own_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (!is_followed(signal)) return sigaction(signal, action, before);
  const struct sigaction own = own_action();
  struct sigaction seen {};
  const int result = sigaction(signal, action != nullptr && is_standard(*action) ? &own : action, &seen);
  if (result == 0 && before != nullptr) {
    *before = seen;
    if (is_own(seen)) *before = {};
  }
  return result;
}

template <sighandler_t (*kReal)(int, sighandler_t) noexcept>
sighandler_t own_signal(int signal, sighandler_t handler) noexcept {
  if (!is_followed(signal)) return kReal(signal, handler);
  struct sigaction before {};
  if (handler == SIG_DFL) {
    const struct sigaction standard {};
    return own_sigaction(signal, &standard, &before) == 0 ? before.sa_handler : SIG_ERR;
  }
  sigaction(signal, nullptr, &before);
  const sighandler_t result = kReal(signal, handler);
  return result != SIG_ERR && is_own(before) ? SIG_DFL : result;
}

}  // namespace

void before_end_signals(void (*last_work)()) noexcept {
  work.store(last_work, std::memory_order_release);
  process.store(system::process_id(), std::memory_order_relaxed);
  const struct sigaction own = own_action();
  for (const int signal : kSignals) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) == 0 && is_standard(before)) sigaction(signal, &own, nullptr);
  }
}

std::array<Redirection, 3> end_signal_redirections() noexcept {
  return {{{"sigaction", reinterpret_cast<void*>(&sigaction), reinterpret_cast<void*>(&own_sigaction)},
           {"signal", reinterpret_cast<void*>(&signal), reinterpret_cast<void*>(&own_signal<&signal>)},
           {"__sysv_signal", reinterpret_cast<void*>(&__sysv_signal), reinterpret_cast<void*>(&own_signal<&__sysv_signal>)}}};
}

}  // namespace lanescope::agent
