#include <algorithm>
#include <functional>

#include "chunk_target.h"
#include "columns.h"
#include "counter_rows.h"

namespace lanescope {

std::optional<std::vector<std::int64_t>> values_of(const CounterSampleColumns::OfCounter& column, int count) {
  if (!same_length(count, column.value_delta)) return std::nullopt;
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(count));
  std::int64_t value = 0;
  for (const std::int64_t delta : column.value_delta) values.push_back(value = sum(value, delta));
  const auto missing = marked(column.missing, count);
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i]) values[i] = kNoValue;
  return values;
}

namespace {

std::vector<Nanoseconds> summed(const Column<std::int64_t>& deltas, Nanoseconds time) {
  std::vector<Nanoseconds> times;
  times.reserve(static_cast<std::size_t>(deltas.size()));
  for (const std::int64_t delta : deltas) times.push_back(time = sum(time, delta));
  return times;
}

}  // namespace

std::optional<std::vector<Nanoseconds>> times_of(const Column<std::int64_t>& deltas, Nanoseconds base_time, Nanoseconds end) {
  auto times = summed(deltas, base_time);
  const bool sound = !times.empty() && std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end() && times.back() < end &&
                     is_near(times.front()) && is_near(end);
  return sound ? std::optional(std::move(times)) : std::nullopt;
}

std::optional<CounterRows> rows_of(const CounterSampleColumns& c, Nanoseconds base_time) {
  if (c.counter.empty() || c.time_delta.empty() || c.columns.size() != static_cast<std::size_t>(c.counter.size())) return std::nullopt;
  CounterRows rows{summed(c.time_delta, base_time), {}, 0};
  rows.end = sum(rows.times.back(), static_cast<std::int64_t>(c.last_duration));
  for (const CounterSampleColumns::OfCounter& column : c.columns) {
    auto values = values_of(column, c.time_delta.size());
    if (!values) return std::nullopt;
    rows.columns.push_back(*std::move(values));
  }
  return rows;
}

bool ingest(const ChunkTarget& into, const CounterSampleColumns& c) {
  if (c.time_delta.empty()) return true;
  std::vector<CounterId> counters;
  for (const std::uint32_t id : c.counter) {
    const CounterId one_more = into.dictionary.counters[id];
    if (one_more == 0) return false;
    counters.push_back(one_more - 1);
  }
  const auto rows = rows_of(c, into.base_time);
  return rows && into.builder.add_samples(counters, rows->times, rows->columns, rows->end);
}

}  // namespace lanescope
