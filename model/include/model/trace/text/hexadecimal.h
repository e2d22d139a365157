// How addresses are written in tables.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace lanescope {

// "0x7F1B7A101000", with capitals as Nsight Systems writes them.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t address) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace lanescope
