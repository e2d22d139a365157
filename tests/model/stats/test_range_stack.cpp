#include "ranges/range_stack.h"

#include "support/catch.h"

using namespace lanescope::stats;

namespace {

// Each range lies within the one before, with ids from 1 on.
std::vector<NvtxRange> nested(std::size_t count) {
  std::vector<NvtxRange> ranges(count);
  for (std::size_t i = 0; i < count; ++i) {
    ranges[i].id = static_cast<std::int64_t>(i) + 1;
    ranges[i].level = static_cast<std::uint32_t>(i);
    ranges[i].parent = i == 0 ? kNoRange : static_cast<std::uint32_t>(i - 1);
  }
  return ranges;
}

}  // namespace

TEST_CASE("the ranges around a range are told from the outermost on") {
  const auto ranges = nested(1'000);
  RangeStacks stacks(ranges.size());
  CHECK(stacks.ids(ranges, 0) == ":1");
  CHECK(stacks.ids(ranges, 4) == ":1:2:3:4:5");
  CHECK(stacks.indent(0) == "");
  CHECK(stacks.indent(3) == "------");
  std::string all;
  for (int id = 1; id <= 1'000; ++id) all += ":" + std::to_string(id);
  CHECK(stacks.ids(ranges, 999) == all);
}

TEST_CASE("of very many ranges that are open together, the innermost are told, and texts are bounded") {
  constexpr std::size_t kCount = 70'000;
  const auto ranges = nested(kCount);
  RangeStacks stacks(kCount);
  std::size_t bytes = 0;
  std::string last;
  for (std::size_t i = 0; i < kCount; ++i) {
    last = stacks.ids(ranges, i);
    bytes += last.size() + stacks.indent(ranges[i].level).size();
  }
  CHECK(last == ":...:69985:69986:69987:69988:69989:69990:69991:69992:69993:69994:69995:69996:69997:69998:69999:70000");
  CHECK(bytes < (256u << 20) + kCount * (512 + 16 * 8 + 4));
}
