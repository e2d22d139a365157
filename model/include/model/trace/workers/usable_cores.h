// How many processors this process may run on.
#pragma once

namespace lanescope {

// At least 1. Fewer than the machine has if the process is confined to some (taskset, cpusets of containers).
[[nodiscard]] unsigned usable_cores() noexcept;

}  // namespace lanescope
