// What the kernel of the operating system did for threads: a trace keeps system calls as ranges of an NVTX domain.
#pragma once

#include <string_view>

namespace lanescope {

inline constexpr std::string_view kSystemCallDomain = "System calls";

}  // namespace lanescope
