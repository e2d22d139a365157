// Sums of times that stay at the largest number where they would start again at the smallest: files may say that events take centuries.
#pragma once

#include <cstdint>
#include <limits>

namespace lanescope {

[[nodiscard]] constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

[[nodiscard]] constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace lanescope
