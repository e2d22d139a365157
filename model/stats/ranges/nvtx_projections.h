// Ranges as they appear on the GPU: from the start of the first operation that a range enqueued to the end of the last. Internal to reports.
#pragma once

#include <vector>

#include "call_ranges.h"

namespace lanescope::stats {

struct Projection {
  const std::vector<NvtxRange>* ranges = nullptr;  // those of its thread
  std::size_t index = 0;                           // the range
  ThreadId thread = kNone;
  TimeRange projected;
  std::int64_t operations = 0;
  std::int64_t children = 0;  // inner ranges that have operations
  [[nodiscard]] const NvtxRange& range() const { return (*ranges)[index]; }
};

// Projections of all ranges that enqueued GPU work: kernels, copies, sets and graphs whose launching call lies in the range. Ordered by thread, then as
// the thread's ranges. They point into `ranges`.
[[nodiscard]] std::vector<Projection> project(const Selection& selection, const CallRanges& ranges);

}  // namespace lanescope::stats
