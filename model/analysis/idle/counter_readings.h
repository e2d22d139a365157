// When counters of kernels were read: the calls that launched these kernels lasted as long as the reading.
#pragma once

#include <map>
#include <set>
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

// The GPUs of the processes that read counters of kernels: only there is `overhead` (idle.h) time that was asked for. Elsewhere it is a cause of idle
// time like all others. O(measured launches + tracks).
[[nodiscard]] std::set<GpuId> gpus_with_readings(const Trace& trace);

// In no particular order. O(kernels) if counters were read, otherwise O(1). When asked to stop, it ends early.
[[nodiscard]] std::vector<CounterReading> counter_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop);

// All times outside of which no idle time has the cause `overhead` (idle.h), in no particular order: the times at which the profiler ran, and calls
// that launched what was measured. If there are more than `most`, neighbours are united. O(events of profilers, plus calls if counters were read).
[[nodiscard]] std::vector<TimeRange> overhead_times(const Trace& trace, const std::stop_token& stop, std::size_t most = 1'000'000);

// Identifies the time that readings did not disturb. A reading's effect does not end with its call: the GPU's queue is empty, and caches are cold.
class ReadingTimes {
 public:
  explicit ReadingTimes(const std::vector<CounterReading>& readings);  // O(n log n)
  // True if the process started a reading in the time. O(log n).
  [[nodiscard]] bool any_in(ProcessId process, TimeRange time) const;

 private:
  std::map<ProcessId, std::vector<Nanoseconds>> begins_;  // in ascending order
};

}  // namespace lanescope::analysis
