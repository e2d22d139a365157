// Bytes that do not compress.
#pragma once

#include <random>
#include <string>

namespace lanescope::test {

inline std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

}  // namespace lanescope::test
