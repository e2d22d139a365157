// Calls into CUPTI: a fault ends the call, not the program.
//
// After a fault, CUPTI must not be asked for anything more. Locks that it took during the call are released, because the program's own calls also lead through
// CUPTI. The rules of core/faults/fault_guard.h about signal handlers and threads apply here as well.
// CUPTI, too. What core/faults/fault_guard.h says of signal handlers and threads holds here as well.
#pragma once

#include "agent/core/faults/fault_guard.h"
#include "agent/core/faults/held_locks.h"

namespace lanescope::agent::cupti {

template <typename Work>
Guarded call_cupti(Work work) noexcept {
  HeldLocks locks;
  const Guarded done = run_guarded(work, &locks);
  if (done == Guarded::kFaulted) locks.release();
  return done;
}

}  // namespace lanescope::agent::cupti
