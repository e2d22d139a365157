// Calls into CUPTI of which a fault ends the call, and not the program.
//
// CUPTI is not to be asked for anything more then. Locks that it took within the call are let go, for the program's own calls lead through
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
