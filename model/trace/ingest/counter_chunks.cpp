#include <algorithm>

#include "chunk_target.h"
#include "columns.h"

namespace lanescope {
namespace {

// Differences of a damaged file may add up to anything: they wrap around.
std::int64_t sum(std::int64_t value, std::uint64_t delta) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + delta); }

// No recording lasts so long, and times that are nearer can be subtracted from each other.
bool is_near(Nanoseconds time) {
  constexpr Nanoseconds kFarthest = Nanoseconds{1} << 61;
  return -kFarthest < time && time < kFarthest;
}

}  // namespace

bool ingest(const ChunkTarget& into, const CounterSampleColumns& c) {
  const int n = c.time_delta.size();
  if (n == 0) return true;
  if (c.counter.empty() || c.columns.size() != static_cast<std::size_t>(c.counter.size())) return false;
  std::vector<CounterId> counters;
  for (const std::uint32_t id : c.counter) {
    if (id == 0 || id >= into.dictionary.counters.size() || into.dictionary.counters[id] == kNone) return false;
    counters.push_back(into.dictionary.counters[id]);
  }
  std::vector<Nanoseconds> times;
  times.reserve(static_cast<std::size_t>(n));
  Nanoseconds time = into.base_time;
  for (const std::int64_t delta : c.time_delta) times.push_back(time = sum(time, static_cast<std::uint64_t>(delta)));
  std::vector<std::vector<std::int64_t>> columns;
  for (const CounterSampleColumns::OfCounter& column : c.columns) {
    if (!same_length(n, column.value_delta)) return false;
    std::vector<std::int64_t>& values = columns.emplace_back();
    values.reserve(static_cast<std::size_t>(n));
    std::int64_t value = 0;
    for (const std::int64_t delta : column.value_delta) values.push_back(value = sum(value, static_cast<std::uint64_t>(delta)));
    const auto missing = marked(column.missing, n);
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i]) values[i] = kNoValue;
  }
  const Nanoseconds end = sum(times.back(), c.last_duration);
  if (!std::all_of(times.begin(), times.end(), is_near) || !is_near(end)) return false;
  return into.builder.add_samples(counters, times, columns, end);
}

}  // namespace lanescope
