// Decides between asking for each event and sweeping over everything between them. Internal to model/events.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanescope {

// The number of events that a sweep may pass for `events` requested events, each of which would be searched in `lanes` lanes: beyond that, searching for each
// is cheaper.
[[nodiscard]] inline std::uint64_t swept_for(std::uint64_t events, std::uint64_t lanes) noexcept {
  constexpr std::uint64_t kLeast = 8;
  return events * std::max(kLeast, lanes);
}

}  // namespace lanescope
