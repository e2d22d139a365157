// The work of one GPU, all processes and streams together, in order of start.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::analysis {

struct GpuOperation {
  TimeRange range;
  EventRef event;
};

// Merges lanes, which are in order each. O(log lanes) an operation, O(1) where one lane runs ahead.
class GpuOperations {
 public:
  GpuOperations(const Trace& trace, GpuId gpu);
  // Only tracks that `wanted` accepts, of GPU work.
  GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted);

  std::optional<GpuOperation> next();

 private:
  struct Head {
    Nanoseconds start;
    EventRef event;
    bool operator>(const Head& other) const noexcept { return start != other.start ? start > other.start : event > other.event; }
  };
  const Trace* trace_;
  std::vector<Head> heads_;  // a heap, the earliest on top
};

}  // namespace lanescope::analysis
