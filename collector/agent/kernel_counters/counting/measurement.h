// One measured launch, from its begin to its end.
#pragma once

#include <cstdint>

#include "agent/kernel_counters/choice/launch.h"
#include "agent/kernel_counters/state.h"

namespace lanescope::agent::kernel_counters {

// Returns true if the launch is being measured now. Requires: the gate is closed.
[[nodiscard]] bool begin_measurement(const Launch& launch, LaunchEntry& entry) noexcept;
// Call after the measured launch: writes the counted data.
void end_measurement(const Launch& launch) noexcept;

// Forgets which launches were measured.
void forget_measured() noexcept;

}  // namespace lanescope::agent::kernel_counters
