#include "agent/core/fault_guard.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>

#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constinit std::atomic<std::uint32_t> guarded_thread{0};
constinit sigjmp_buf way_out = {};

}  // namespace

Guarded run_guarded(void (*work)(void*), void* argument) noexcept {
  if (sigsetjmp(way_out, 1) != 0) return Guarded::kFaulted;  // with the signals blocked again
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  guarded_thread.store(kernel_thread_id(), std::memory_order_release);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  work(argument);
  pthread_sigmask(SIG_BLOCK, &faults, nullptr);
  guarded_thread.store(0, std::memory_order_release);
  return Guarded::kDone;
}

void leave_guarded_work() noexcept {
  std::uint32_t own = kernel_thread_id();
  if (guarded_thread.compare_exchange_strong(own, 0, std::memory_order_acq_rel)) siglongjmp(way_out, 1);
}

}  // namespace lanescope::agent
