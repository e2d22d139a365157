// The times at which the warps of a kernel were sampled, as near as a trace can tell.
//
// A window has what was handed over in it, but no times of its samples. If sampling goes on all the time, CUPTI's worker hands over ten times a second,
// so the samples of a window were taken in it or in the tenth of a second before. If windows were sampled, the samples were taken within them. A kernel
// is sampled while it runs. So its samples lie in those of its runs that overlap that time, if the trace has these runs, and are taken to be spread
// evenly over them. It is not known in which run a sample was taken.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope {

// The time within which the samples of a window may have been taken.
[[nodiscard]] TimeRange sampled_within(const PcSampleWindow& window) noexcept;

// For one trace, which must outlive it. One thread at a time.
class SampleTimes {
 public:
  explicit SampleTimes(const Trace& trace);

  // Runs of the kernels that were sampled in a window, by name, cut to sampled_within(): ascending, and none overlap. Kernels without a run in that
  // time are not in it. Valid until another window is asked for. If all calls together have looked at very many kernels, as happens with endless
  // overlapping windows, the result is empty from then on. With `part`, only runs of kernels that overlap that time. O(kernels in that time · log).
  [[nodiscard]] const std::map<NameId, std::vector<TimeRange>>& runs(const PcSampleWindow& window, const std::optional<TimeRange>& part = {});

 private:
  const Trace& trace_;
  std::map<std::pair<GpuId, ProcessId>, std::vector<LaneId>> lanes_;  // of kernels
  std::map<NameId, std::vector<TimeRange>> runs_;
  std::uint64_t looks_ = 0;
};

}  // namespace lanescope
