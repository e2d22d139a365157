#include "row_index.h"

#include <random>

#include <xxhash.h>

namespace lanescope {

std::uint64_t hash_seed() noexcept {
  static const std::uint64_t seed = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return seed;
}

std::uint64_t hash_of(std::string_view text) noexcept { return XXH3_64bits_withSeed(text.data(), text.size(), hash_seed()); }

}  // namespace lanescope
