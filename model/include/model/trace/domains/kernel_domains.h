// What the kernel of the operating system did for threads. A trace keeps system calls as ranges of one NVTX domain, and events of tracepoints as marks
// of another.
#pragma once

#include <string_view>

namespace lanescope {

inline constexpr std::string_view kSystemCallDomain = "System calls";
inline constexpr std::string_view kKernelEventDomain = "Kernel events";

}  // namespace lanescope
