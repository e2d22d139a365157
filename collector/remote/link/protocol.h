// What both sides hold to.
#pragma once

#include <chrono>
#include <cstdint>

namespace lanescope::remote {

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::chrono::milliseconds kPulse{5'000};  // after which a side that has nothing to say says so

}  // namespace lanescope::remote
