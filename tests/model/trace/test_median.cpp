#include "model/trace/median.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include "support/catch.h"

using namespace lanescope;

TEST_CASE("as many values lie below the median as above it, and of an even number it is midway") {
  std::mt19937_64 random(3);
  for (std::size_t count = 1; count <= 40; ++count) {
    std::vector<std::int64_t> values(count);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % 30);
    std::vector<std::int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    CHECK(median(values) == (sorted[(count - 1) / 2] + sorted[count / 2]) / 2);
    std::vector<double> reals(values.begin(), values.end());
    CHECK(median(reals) == static_cast<double>(sorted[(count - 1) / 2] + sorted[count / 2]) / 2);
  }
}

TEST_CASE("a median of whole numbers is rounded towards the lower, and none is too large") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(median<std::int64_t>({4, 3}) == 3);
  CHECK(median<std::int64_t>({-3, -4}) == -4);
  CHECK(median<std::int64_t>({kMost, kMost - 2}) == kMost - 1);
  CHECK(median<std::int64_t>({kMost, kLeast}) == -1);
}
