// A launch as a key of hash tables. Internal to model/kernels.
#pragma once

#include <cstdint>

#include "model/trace/types.h"

namespace lanescope::kernels {

// Unique in a trace: correlation ids are unique within a process only.
inline std::uint64_t launch_key(ProcessId process, std::uint32_t correlation) noexcept { return std::uint64_t{process} << 32 | correlation; }

}  // namespace lanescope::kernels
