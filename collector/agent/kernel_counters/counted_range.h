// What runs while a range of NVTX is open, counted together.
#pragma once

#include "agent/kernel_counters/launch.h"
#include "agent/kernel_counters/state.h"

namespace lanescope::agent::kernel_counters {

// Before a launch that is not within another: it may begin a range, or end one that could not be ended before.
void follow_range(const Launch& launch) noexcept;
// Behind the last end of a range that was named, on the program's thread.
void on_end_of_range() noexcept;
// The contexts are about to end. Requires: the gate is closed.
void forget_range() noexcept;

}  // namespace lanescope::agent::kernel_counters
