// Extents of grids and blocks as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

// "128 1024 1" in a table; in a sentence, with " × " between them, "128 × 1024 × 1". Empty if the extent is not known, which is {0, 0, 0}.
[[nodiscard]] inline std::string extent_text(const std::uint32_t (&extent)[3], std::string_view between = " ") {
  if (extent[0] == 0) return {};
  return std::to_string(extent[0]).append(between).append(std::to_string(extent[1])).append(between).append(std::to_string(extent[2]));
}

}  // namespace lanescope
