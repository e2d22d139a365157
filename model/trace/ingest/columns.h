// Helpers for reading the columns of a chunk: lengths that must agree, columns that may be absent, lists of marked events, sums of differences, and
// numbers of kinds that a newer recorder may write.
#pragma once

#include <cstdint>
#include <vector>

namespace lanescope {

// A column that may be empty if all its values are 0.
template <typename Column>
[[nodiscard]] auto optional_value(const Column& column, int i) -> typename Column::value_type {
  return i < column.size() ? column[i] : 0;
}

// Differences in a damaged file may have any sum, so sums wrap around.
[[nodiscard]] constexpr std::int64_t sum(std::int64_t value, std::int64_t delta) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(delta));
}

// One of the kinds from 0 to `last`. A number that is none of them becomes the first kind, which stands for nothing known.
template <typename Kind, typename Number>
[[nodiscard]] constexpr Kind known_kind(Number number, Kind last) noexcept {
  return number >= 0 && static_cast<std::uint64_t>(number) <= static_cast<std::uint64_t>(last) ? static_cast<Kind>(number) : Kind{};
}

template <typename... Columns>
[[nodiscard]] bool same_length(int length, const Columns&... columns) {
  return ((columns.size() == length) && ...);
}
template <typename... Columns>
[[nodiscard]] bool same_length_or_empty(int length, const Columns&... columns) {
  return ((columns.size() == length || columns.empty()) && ...);
}

// One mark an event, set for the listed indexes; empty if none is listed.
template <typename Column>
[[nodiscard]] std::vector<bool> marked(const Column& indexes, int size) {
  std::vector<bool> marks(indexes.empty() ? 0 : static_cast<std::size_t>(size));
  for (const std::uint32_t index : indexes)
    if (index < marks.size()) marks[index] = true;
  return marks;
}

}  // namespace lanescope
