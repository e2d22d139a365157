// Counts together everything that runs while an NVTX range is open.
#pragma once

#include "agent/kernel_counters/choice/launch.h"
#include "agent/kernel_counters/state.h"

namespace lanescope::agent::kernel_counters {

// Call before a launch that is not nested in another: it may begin a range, or end one that could not be ended before.
void follow_range(const Launch& launch) noexcept;
// Call after the last end of a named range, on the program's thread.
void on_end_of_range() noexcept;
// Call before contexts end. Requires: the gate is closed.
void forget_range() noexcept;

}  // namespace lanescope::agent::kernel_counters
