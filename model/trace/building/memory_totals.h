// How much memory is allocated over time, computed from events. Internal to model/trace.
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

// One series for each kind of memory that events of the track (kMemoryUsage) allocate, and two if there are memory pools; each holds until `end`. A
// release counts as many bytes as its allocation did. A release of memory that was allocated before the recording counts nothing, so that a total is
// the memory that was allocated since the start of the recording and not yet released. O(n log n).
[[nodiscard]] std::vector<MemoryTotal> memory_totals(const Trace& trace, const Track& track, Nanoseconds end);

}  // namespace lanescope
