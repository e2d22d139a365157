// Numbers the distinct values of a column. Internal to model/export.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lanescope::exporters {

struct ValueDictionary {
  std::vector<std::int64_t> values;    // distinct values, in order of first occurrence
  std::vector<std::uint32_t> indices;  // for each value of the column
};

// Nothing if there are more than `limit` distinct values. O(n).
[[nodiscard]] std::optional<ValueDictionary> dictionary_of(std::span<const std::int64_t> column, std::size_t limit);

// The same with values in ascending order, which compresses better. O(n + v log v) for v values.
[[nodiscard]] ValueDictionary ascending(ValueDictionary dictionary);

}  // namespace lanescope::exporters
