// How much memory a process may still take without anybody missing it.
#pragma once

#include <cstdint>

namespace lanescope::gpu_metrics {

// Bytes: what the machine has available, and what the limit of our control group (a container's) leaves. Reads some files of /proc and /sys.
[[nodiscard]] std::uint64_t free_memory();

}  // namespace lanescope::gpu_metrics
