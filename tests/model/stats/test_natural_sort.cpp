#include "natural_sort.h"

#include <algorithm>
#include <random>
#include <utility>

#include "by_start.h"
#include "support/catch.h"

using lanescope::stats::natural_sort;

TEST_CASE("natural sort orders like a stable sort, whatever the runs") {
  auto seed = GENERATE(range(0u, 40u));
  std::mt19937 random(seed);
  std::vector<std::pair<int, int>> values;  // key, place
  const auto size = seed == 0 ? 0u : random() % 300;
  int key = 0;
  for (unsigned i = 0; i < size; ++i) {
    key = random() % (1 + seed) == 0 ? static_cast<int>(random() % 50) : key + static_cast<int>(random() % 3);
    values.emplace_back(key, static_cast<int>(i));
  }
  const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
  auto expected = values;
  std::stable_sort(expected.begin(), expected.end(), by_key);
  natural_sort(values, by_key);
  CHECK(values == expected);
}

TEST_CASE("sorted lists merge as a stable sort of them one after the other") {
  auto seed = GENERATE(range(0u, 60u));
  std::mt19937 random(seed);
  std::vector<std::vector<std::pair<int, int>>> lists(seed % 9);
  std::vector<std::pair<int, int>> expected;
  for (auto& list : lists) {
    int key = 0;
    for (unsigned i = 0, size = random() % 40; i < size; ++i) list.emplace_back(key += static_cast<int>(random() % 3), static_cast<int>(expected.size() + i));
    expected.insert(expected.end(), list.begin(), list.end());
  }
  const auto key = [](const auto& value) { return value.first; };
  std::stable_sort(expected.begin(), expected.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  CHECK(lanescope::stats::merge_sorted(std::move(lists), key) == expected);
}
