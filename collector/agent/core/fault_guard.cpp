#include "agent/core/fault_guard.h"

#include <csetjmp>
#include <utility>

namespace lanescope::agent {
namespace {

constinit thread_local sigjmp_buf* way_out = nullptr;

}  // namespace

Guarded run_guarded(void (*work)(void*), void* argument) noexcept {
  sigjmp_buf* const outer = way_out;
  sigjmp_buf here;
  const bool has_faulted = sigsetjmp(here, 1) != 0;  // with the signals unblocked again
  if (!has_faulted) {
    way_out = &here;
    work(argument);
  }
  way_out = outer;
  return has_faulted ? Guarded::kFaulted : Guarded::kDone;
}

void leave_guarded_work() noexcept {
  if (sigjmp_buf* const out = std::exchange(way_out, nullptr)) siglongjmp(*out, 1);
}

}  // namespace lanescope::agent
