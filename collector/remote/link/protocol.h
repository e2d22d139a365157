// Constants that both sides use.
#pragma once

#include <chrono>
#include <cstdint>

namespace lanescope::remote {

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::chrono::milliseconds kPulse{5'000};  // a side that has nothing to send sends a sign of life after this time

}  // namespace lanescope::remote
