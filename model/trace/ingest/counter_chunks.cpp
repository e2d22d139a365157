#include <algorithm>

#include "chunk_target.h"
#include "columns.h"

namespace lanescope {

bool ingest(const ChunkTarget& into, const CounterSampleColumns& c) {
  const int n = c.time_delta.size();
  if (n == 0) return true;
  if (c.counter.empty() || c.columns.size() != static_cast<std::size_t>(c.counter.size())) return false;
  std::vector<CounterId> counters;
  for (const std::uint32_t id : c.counter) {
    const CounterId one_more = into.dictionary.counters[id];
    if (one_more == 0) return false;
    counters.push_back(one_more - 1);
  }
  std::vector<Nanoseconds> times;
  times.reserve(static_cast<std::size_t>(n));
  Nanoseconds time = into.base_time;
  for (const std::int64_t delta : c.time_delta) times.push_back(time = sum(time, delta));
  std::vector<std::vector<std::int64_t>> columns;
  for (const CounterSampleColumns::OfCounter& column : c.columns) {
    if (!same_length(n, column.value_delta)) return false;
    std::vector<std::int64_t>& values = columns.emplace_back();
    values.reserve(static_cast<std::size_t>(n));
    std::int64_t value = 0;
    for (const std::int64_t delta : column.value_delta) values.push_back(value = sum(value, delta));
    const auto missing = marked(column.missing, n);
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i]) values[i] = kNoValue;
  }
  const Nanoseconds end = sum(times.back(), static_cast<std::int64_t>(c.last_duration));
  return into.builder.add_samples(counters, times, columns, end);
}

}  // namespace lanescope
