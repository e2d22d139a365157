// Units of a GPU's memory. Internal to model/kernels.
#pragma once

namespace lanescope::kernels {

// Memory and caches transfer whole sectors of 32 bytes (CUDA C++ Programming Guide, "Global Memory").
inline constexpr double kSectorBytes = 32;

}  // namespace lanescope::kernels
