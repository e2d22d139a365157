#include "agent/channel/end_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "agent/core/system_calls.h"
#include "agent/process/handlers.h"

namespace lanescope::agent {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

constinit std::atomic<void (*)()> work{nullptr};
constinit std::atomic<std::int32_t> process{0};
constinit std::atomic<bool> is_ending{false};

// The signal is raised again when its handler returns.
void end_by(int signal, siginfo_t* information) noexcept {
  const SignalAction standard{};
  set_action(signal, &standard, nullptr);
  system::system_call(SYS_rt_tgsigqueueinfo, system::process_id(), system::thread_id(), signal, system::word(information));
}

void on_signal(int signal, siginfo_t* information, void*) noexcept {
  const int saved_errno = errno;
  if (system::process_id() == process.load(std::memory_order_relaxed) && !is_ending.exchange(true)) work.load(std::memory_order_acquire)();
  end_by(signal, information);
  errno = saved_errno;
}

}  // namespace

void before_end_signals(void (*last_work)()) noexcept {
  work.store(last_work, std::memory_order_release);
  process.store(system::process_id(), std::memory_order_relaxed);
  SignalAction own{};
  own.sa_sigaction = on_signal;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&own.sa_mask);
  for (const int signal : kSignals) {
    SignalAction before{};
    if (set_action(signal, nullptr, &before) == 0 && is_default(before)) stand_before(signal, own, before);
  }
}

}  // namespace lanescope::agent
