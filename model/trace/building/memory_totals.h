// How much memory is allocated over time, from the events that say so. Internal to model/trace.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "model/trace/counter.h"
#include "model/trace/trace.h"

namespace lanescope {

// The series of one counter.
struct MemoryTotal {
  Counter counter;
  CounterSeries series;
};

// One for each kind of memory that events of the track (kMemoryUsage) allocate, and two where there are memory pools; each holds until
// `end`. A release counts as many bytes as its allocation did; one of memory that was allocated before the recording counts nothing, so
// that a total is what was allocated since the recording began and not yet released. O(n log n).
[[nodiscard]] std::vector<MemoryTotal> memory_totals(const Trace& trace, const Track& track, Nanoseconds end);

}  // namespace lanescope
