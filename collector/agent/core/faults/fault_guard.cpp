#include "agent/core/faults/fault_guard.h"

#include <csetjmp>
#include <utility>

namespace lanescope::agent {
namespace {

struct WayOut {
  sigjmp_buf place;
  HeldLocks* locks;
};

constinit thread_local WayOut* way_out = nullptr;

}  // namespace

Guarded run_guarded(void (*work)(void*), void* argument, HeldLocks* locks) noexcept {
  WayOut* const outer = way_out;
  WayOut here;
  here.locks = locks != nullptr || outer == nullptr ? locks : outer->locks;
  const bool has_faulted = sigsetjmp(here.place, 1) != 0;  // 1: restores the signal mask, so the signals are unblocked again
  if (!has_faulted) {
    way_out = &here;
    work(argument);
  }
  way_out = outer;
  return has_faulted ? Guarded::kFaulted : Guarded::kDone;
}

void leave_guarded_work() noexcept {
  if (WayOut* const out = std::exchange(way_out, nullptr)) siglongjmp(out->place, 1);
}

HeldLocks* locks_of_guarded_work() noexcept { return way_out == nullptr ? nullptr : way_out->locks; }

}  // namespace lanescope::agent
