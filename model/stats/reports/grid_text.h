// Grids and blocks as reports show them. Internal to reports.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace lanescope::stats {

// " 128    1    1"
[[nodiscard]] inline std::string grid_text(const std::uint32_t (&extent)[3]) {
  char text[40];
  std::snprintf(text, sizeof text, "%4u %4u %4u", extent[0], extent[1], extent[2]);
  return text;
}

}  // namespace lanescope::stats
