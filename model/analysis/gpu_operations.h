// The work of one GPU, all processes and streams together, in order of start.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
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
  GpuOperations(const Trace& trace, GpuId gpu, std::stop_token stop = {});
  // Only tracks that `wanted` accepts, of GPU work.
  GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, std::stop_token stop = {});

  std::optional<GpuOperation> next();  // none behind the last, and when asked to stop

 private:
  struct Head {
    Nanoseconds start;
    EventRef event;
    bool operator>(const Head& other) const noexcept { return start != other.start ? start > other.start : event > other.event; }
  };
  const Trace* trace_;
  std::stop_token stop_;
  std::vector<Head> heads_;  // a heap, the earliest on top
};

}  // namespace lanescope::analysis
