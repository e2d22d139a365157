// How reports show the nesting of a range. Internal to reports.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nvtx_ranges.h"

namespace lanescope::stats {

[[nodiscard]] inline std::int64_t parent_id(const std::vector<NvtxRange>& ranges, std::size_t index) {
  return ranges[index].parent == kNoRange ? kNoInteger : ranges[ranges[index].parent].id;
}

// Texts that show the nesting of ranges of a table. A text has a part for each enclosing range. With thousands of ranges open together, as in a hostile
// file, the texts would take gigabytes: beyond 512 bytes for each row and 256 MiB in all, texts have only their innermost parts (docs/file-format.md,
// Limits).
class RangeStacks {
 public:
  explicit RangeStacks(std::size_t rows) noexcept : left_(kLeastBytes + kBytesOfRow * rows) {}

  // ":3:5:8": the ids of the ranges around this one, outermost first, and its own; ":...:5:8" if some are left out. O(length of the result).
  [[nodiscard]] std::string ids(const std::vector<NvtxRange>& ranges, std::size_t index) {
    std::vector<std::string> told;
    const std::size_t all = std::size_t{ranges[index].level} + 1;
    const std::size_t most = told_of(all, 1 + std::to_string(ranges[index].id).size());
    for (; index != kNoRange && told.size() < most; index = ranges[index].parent) told.push_back(std::to_string(ranges[index].id));
    std::string stack = index == kNoRange ? "" : ":...";
    for (auto id = told.rbegin(); id != told.rend(); ++id) stack.append(":").append(*id);
    return stack;
  }
  // Two dashes for each range around a range of this level.
  [[nodiscard]] std::string indent(std::uint32_t level) { return std::string(told_of(level, 2) * 2, '-'); }

 private:
  static constexpr std::size_t kLeastBytes = 256u << 20, kBytesOfRow = 512, kInnermost = 16;

  // How many of this many parts of about `bytes` each are shown.
  std::size_t told_of(std::size_t parts, std::size_t bytes) noexcept {
    const std::size_t told = parts * bytes <= left_ ? parts : std::min(parts, kInnermost);
    left_ -= std::min(left_, told * bytes);
    return told;
  }

  std::size_t left_;
};

}  // namespace lanescope::stats
