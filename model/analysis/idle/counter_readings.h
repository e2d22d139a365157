// When counters of kernels were read: the calls that launched these took as long as the reading did.
#pragma once

#include <map>
#include <span>
#include <stop_token>
#include <vector>

#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct CounterReading {
  ProcessId process = kNone;
  GpuId gpu = kNone;
  TimeRange time;  // of the call
  NameId call = 0;
};

// In no order. O(kernels) where counters were read, else O(1). When asked to stop, it ends early.
[[nodiscard]] std::vector<CounterReading> counter_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop);

// Tells the time that readings left alone. A reading does not end with its call: the GPU's queue is empty, and caches are cold.
class ReadingTimes {
 public:
  explicit ReadingTimes(const std::vector<CounterReading>& readings);  // O(n log n)
  // Whether the process began a reading in the time. O(log n).
  [[nodiscard]] bool any_in(ProcessId process, TimeRange time) const;

 private:
  std::map<ProcessId, std::vector<Nanoseconds>> begins_;  // ascending
};

}  // namespace lanescope::analysis
