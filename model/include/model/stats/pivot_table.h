// Sums by columns (event_pivot.h) as a table.
#pragma once

#include <span>

#include "model/events/event_pivot.h"
#include "model/stats/table.h"

namespace lanescope::stats {

// The position of the columns by which the sums are grouped: in front of the values, or after them, as reports have it.
enum class ValuesAt : std::uint8_t { kFront, kBack };

// A row for each group, in their order. Columns of numbers are numbers; shares refer to the total of all groups.
[[nodiscard]] Table pivot_table(std::span<const PivotColumn> columns, std::span<const PivotGroup> groups, ValuesAt place);

}  // namespace lanescope::stats
