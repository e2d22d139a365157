#include "agent/process/crash_mark.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include "agent/core/faults/fault_guard.h"
#include "agent/core/system_calls.h"
#include "agent/process/forks.h"
#include "agent/process/handlers.h"

namespace lanescope::agent {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

constinit std::atomic<channel::AgentStatus*> marked{nullptr};
constinit std::atomic<bool> is_watching{false};
constinit std::atomic<void (*)()> last_work{nullptr};

void mark(int signal, const siginfo_t* information) noexcept {
  channel::AgentStatus* status = marked.load(std::memory_order_acquire);
  if (status == nullptr || last_generation() == 0) return;  // a child must not change its parent's report
  const bool is_fault = information->si_code > 0 && signal != SIGABRT;
  status->crash_thread.store(system::thread_id(), std::memory_order_relaxed);
  status->crash_address.store(is_fault ? reinterpret_cast<std::uintptr_t>(information->si_addr) : 0, std::memory_order_relaxed);
  status->crash_signal.store(static_cast<std::uint32_t>(signal), std::memory_order_release);
}

// True if this thread caused the signal itself, by a fault or by abort().
bool is_own_deed(int signal, const siginfo_t& information) noexcept {
  return signal == SIGABRT ? information.si_code == SI_TKILL && information.si_pid == system::process_id() : information.si_code > 0;
}

void on_signal(int signal, siginfo_t* information, void* context) noexcept {
  if (is_own_deed(signal, *information)) leave_guarded_work();
  const int saved_errno = errno;
  mark(signal, information);
  const SignalAction& before = action_before(signal);
  const bool is_awaited = (before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL;
  if (void (*const work)() = last_work.load(std::memory_order_acquire); work != nullptr && (signal == SIGABRT || !is_awaited)) work();
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    errno = saved_errno;
    return before.sa_sigaction(signal, information, context);
  }
  if (before.sa_handler != SIG_DFL) {
    errno = saved_errno;
    return before.sa_handler(signal);
  }
  // A fault comes again once we return, and then ends the process where it happened; a signal that was sent has to be sent again.
  set_action(signal, &before, nullptr);
  if (information->si_code <= 0) system::system_call(SYS_rt_tgsigqueueinfo, system::process_id(), system::thread_id(), signal, system::word(information));
  errno = saved_errno;
}

}  // namespace

void mark_crashes_in(channel::AgentStatus* status) noexcept {
  marked.store(status, std::memory_order_release);
  if (status == nullptr || is_watching.exchange(true)) return;
  for (const int signal : kSignals) {
    SignalAction before{};
    if (set_action(signal, nullptr, &before) != 0) continue;
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) continue;
    SignalAction ours = before;  // keeps its mask, and whether it holds only once
    ours.sa_sigaction = on_signal;
    ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
    stand_before(signal, ours, before);
  }
}

void before_crashes(void (*work)()) noexcept { last_work.store(work, std::memory_order_release); }

}  // namespace lanescope::agent
