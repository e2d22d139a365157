// How reports tell where a range stands in the nest. Internal to reports.
#pragma once

#include <string>

#include "nvtx_ranges.h"

namespace lanescope::stats {

[[nodiscard]] inline std::int64_t parent_id(const std::vector<NvtxRange>& ranges, std::size_t index) {
  return ranges[index].parent == kNoRange ? kNoInteger : ranges[ranges[index].parent].id;
}

// ":3:5:8": the ids of the ranges around this one, outermost first, and its own.
[[nodiscard]] inline std::string range_stack(const std::vector<NvtxRange>& ranges, std::size_t index) {
  std::string stack;
  for (; index != kNoRange; index = ranges[index].parent) stack.insert(0, ":" + std::to_string(ranges[index].id));
  return stack;
}

}  // namespace lanescope::stats
