// One launch that is measured, from its begin to its end.
#pragma once

#include <cstdint>

#include "agent/kernel_counters/launch.h"
#include "agent/kernel_counters/state.h"

namespace lanescope::agent::kernel_counters {

// Whether the launch is measured now. Requires: the gate is closed.
[[nodiscard]] bool begin_measurement(const Launch& launch, LaunchEntry& entry) noexcept;
// Behind the launch that is measured: writes what was counted.
void end_measurement(const Launch& launch) noexcept;

// None was measured yet.
void forget_measured() noexcept;

}  // namespace lanescope::agent::kernel_counters
