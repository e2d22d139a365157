// The launches of kernels that were profiled: their hardware counters were read, or their instructions counted. Immutable; any thread may read it.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope::timeline {

class ProfiledLaunches {
 public:
  ProfiledLaunches() = default;
  // O(profiled launches).
  explicit ProfiledLaunches(const KernelRecords& records);

  [[nodiscard]] bool empty() const noexcept { return launches_.empty(); }
  // For any event. Requires: it belongs to the trace of these records. O(1).
  [[nodiscard]] bool contains(const Trace& trace, EventRef event) const;

 private:
  std::unordered_set<std::uint64_t> launches_;  // process, correlation
};

}  // namespace lanescope::timeline
