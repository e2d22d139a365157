// Whether to ask for each event, or to sweep over all that lie between them. Internal to model/events.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanescope {

// Events that a sweep may pass where so many are asked for, of which each would be looked for in so many lanes: beyond, a search for each takes less.
[[nodiscard]] inline std::uint64_t swept_for(std::uint64_t events, std::uint64_t lanes) noexcept {
  constexpr std::uint64_t kLeast = 8;
  return events * std::max(kLeast, lanes);
}

}  // namespace lanescope
