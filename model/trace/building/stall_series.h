// Why the warps of GPUs waited, over time. Internal to model/trace.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/trace/counter.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope {

struct StallSeries {
  Counter counter;
  CounterSeries series;
};

// For each reason the share of samples, at the times at which these may have been taken (sample_times.h). Of the first GPUs where there are very many, as fine
// as a millisecond, and as some million values in all.
//
// A recording that goes on is asked again and again. What kernels that come now can no longer change, since they began later, is kept; windows of the last
// seconds are spread over the runs of kernels anew. The answer is that of a trace that is asked once. One thread at a time.
class StallRows {
 public:
  StallRows();
  ~StallRows();
  StallRows(const StallRows&) = delete;
  StallRows& operator=(const StallRows&) = delete;

  // Requires: the trace is the one before, with more. `new_kernels_from`: no kernel that the trace has now and did not have then began earlier. O(samples of
  // the windows that are new or of the last seconds + kernels in these + values), but for a kernel that took longer than that: then O(samples + kernels in
  // windows), as the first time.
  [[nodiscard]] std::vector<StallSeries> update(const Trace& trace, Nanoseconds new_kernels_from);
  // How many windows were spread, again or for the first time: a measure of the work.
  [[nodiscard]] std::uint64_t windows_spread() const noexcept { return windows_spread_; }

 private:
  struct OfGpu;
  using Windows = std::vector<std::shared_ptr<const PcSampleWindow>>;
  void take(const Windows& windows);

  std::map<GpuId, OfGpu> gpus_;
  std::size_t taken_ = 0;  // windows of the trace
  std::shared_ptr<const PcSampleWindow> last_taken_;
  std::uint64_t windows_spread_ = 0;
};

}  // namespace lanescope
