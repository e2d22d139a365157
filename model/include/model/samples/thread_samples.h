// The CPU samples of threads by intervals: answers what ran in each of a million gaps.
#pragma once

#include <map>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::samples {

// Call chains and the number of their samples.
using ChainCounts = std::map<CallNodeId, std::uint64_t>;

class ThreadSamples {
 public:
  // O(tracks). The trace must outlive *this.
  explicit ThreadSamples(const Trace& trace);

  [[nodiscard]] bool empty() const noexcept { return empty_; }
  // Adds the samples of the thread that lie in the window. O(log n + samples in the window).
  void count(ThreadId thread, TimeRange window, ChainCounts& chains) const;

 private:
  const Trace& trace_;
  bool empty_ = true;
  std::vector<std::vector<LaneId>> lanes_;  // by thread
};

}  // namespace lanescope::samples
