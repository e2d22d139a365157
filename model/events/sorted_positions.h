// Sorting many numbers: a radix sort of packed keys, on two threads where that is worth it. Internal to model/events.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "large_array.h"
#include "model/events/event_query.h"

namespace lanescope {

// Calls part(begin, end) for [0, size), halved between this thread and another where there is enough to do. The first part begins at 0.
void in_two_parts(std::size_t size, const std::function<void(std::size_t begin, std::size_t end)>& part);

// Where each number stood, in their order: ColumnReader::kMissing last in both directions, equal ones as they stood. O(n). Means nothing
// when asked to stop. Requires: fewer than 2^32 numbers.
[[nodiscard]] LargeArray<std::uint32_t> sorted_positions(LargeArray<std::int64_t> numbers, SortDirection direction, std::stop_token stop);

}  // namespace lanescope
