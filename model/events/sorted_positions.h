// Sorts many numbers: a radix sort of packed keys, on two threads if that is worth it. Internal to model/events.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "large_array.h"
#include "model/events/column_reader.h"
#include "model/events/event_query.h"

namespace lanescope {

// Calls part(begin, end) for [0, size), split between this thread and another if there is enough to do. The first part begins at 0.
void in_two_parts(std::size_t size, const std::function<void(std::size_t begin, std::size_t end)>& part);

// Ascends in the wanted order. Missing values, which are the least numbers, come last in both directions.
[[nodiscard]] inline std::uint64_t sort_rank(std::int64_t number, SortDirection direction) noexcept {
  const std::uint64_t above_missing = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(ColumnReader::kMissing);
  return direction == SortDirection::kAscending ? above_missing - 1 : UINT64_MAX - above_missing;
}

// The position of each number before sorting, in sorted order: ColumnReader::kMissing last in both directions, equal ones in their old order. O(n). The result
// is meaningless if asked to stop. Requires: fewer than 2^32 numbers.
[[nodiscard]] LargeArray<std::uint32_t> sorted_positions(LargeArray<std::int64_t> numbers, SortDirection direction, std::stop_token stop);

}  // namespace lanescope
