// When the warps of a kernel were sampled, as near as a trace can tell.
//
// A window has what was handed over in it, and of its samples no times. Where sampling goes on all the time, CUPTI's worker hands over ten times a second, so
// what a window has was sampled in it or in the tenth of a second before; where windows were sampled, within them. A kernel is sampled while it runs: so the
// samples of one lie in those of its runs that overlap that time, wherever the trace has these, and are taken to be spread evenly over them. In which of them a
// sample was taken, nothing says.
#pragma once

#include <map>
#include <vector>

#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope {

// The time in which what a window has may have been sampled.
[[nodiscard]] TimeRange sampled_within(const PcSampleWindow& window) noexcept;

// Of one trace, which outlives it. One thread at a time.
class SampleTimes {
 public:
  explicit SampleTimes(const Trace& trace);

  // Runs of the kernels that were sampled in a window, by name, cut to sampled_within(): ascending, and none overlap. Without those of which the trace has no
  // run then. Valid until another window is asked for. Where it came to very many looks at kernels in all, as windows without end that overlap take, there are
  // none from then on. O(kernels in that time · log).
  [[nodiscard]] const std::map<NameId, std::vector<TimeRange>>& runs(const PcSampleWindow& window);

 private:
  const Trace& trace_;
  std::map<std::pair<GpuId, ProcessId>, std::vector<LaneId>> lanes_;  // of kernels
  std::map<NameId, std::vector<TimeRange>> runs_;
  std::uint64_t looks_ = 0;
};

}  // namespace lanescope
