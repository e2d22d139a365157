// Numbers the values that differ in a column. Internal to model/export.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lanescope::exporters {

struct ValueDictionary {
  std::vector<std::int64_t> values;    // that differ, in the order in which they first came
  std::vector<std::uint32_t> indices;  // of the column's values
};

// None where more than `limit` differ. O(n).
[[nodiscard]] std::optional<ValueDictionary> dictionary_of(std::span<const std::int64_t> column, std::size_t limit);

// The same with its values in ascending order, which compress better than as they came. O(n + v log v) for v values.
[[nodiscard]] ValueDictionary ascending(ValueDictionary dictionary);

}  // namespace lanescope::exporters
