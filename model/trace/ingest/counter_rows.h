// The samples of a chunk of counters. Internal to model/trace.
#pragma once

#include <optional>
#include <vector>

#include "model/trace/types.h"
#include "packed.h"

namespace lanescope {

struct CounterRows {
  std::vector<Nanoseconds> times;
  std::vector<std::vector<std::int64_t>> columns;  // of each counter, a value or kNoValue for each time
  Nanoseconds end = 0;                             // of the last values
};

// Times count from `base_time`. Returns nothing if columns differ in length.
[[nodiscard]] std::optional<CounterRows> rows_of(const CounterSampleColumns& columns, Nanoseconds base_time);
// Times of a chunk, which ascend; nothing if they do not, if there are none, or if they or `end` are not near.
[[nodiscard]] std::optional<std::vector<Nanoseconds>> times_of(const Column<std::int64_t>& deltas, Nanoseconds base_time, Nanoseconds end);
// Values of one counter at `count` times; nothing if it has another number of them.
[[nodiscard]] std::optional<std::vector<std::int64_t>> values_of(const CounterSampleColumns::OfCounter& column, int count);

}  // namespace lanescope
