// The reasons for which the warps of GPUs waited, over time. Internal to model/trace.
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

// For each reason the share of samples, at the times at which these may have been taken (sample_times.h). If there are very many GPUs, only the first
// ones. As fine as a millisecond, and up to some million values in all.
//
// For a growing recording it is updated again and again. The result for windows that later kernels can no longer change, because these started later,
// is kept. Windows of the last seconds are spread over the runs of kernels again. The answer is the same as if it were asked once for the whole trace.
// One thread at a time.
class StallRows {
 public:
  StallRows();
  ~StallRows();
  StallRows(const StallRows&) = delete;
  StallRows& operator=(const StallRows&) = delete;

  // Requires: the trace is the previous one, with more data. `new_kernels_from`: no kernel that the trace has now and did not have then started
  // earlier. O(samples of the windows that are new or of the last seconds + kernels in these + values). If a kernel took longer than that, it is
  // O(samples + kernels in windows), as the first time.
  [[nodiscard]] std::vector<StallSeries> update(const Trace& trace, Nanoseconds new_kernels_from);
  // How many windows were spread, again or for the first time: a measure of the work.
  [[nodiscard]] std::uint64_t windows_spread() const noexcept { return windows_spread_; }

 private:
  struct OfGpu;
  using Windows = std::vector<std::shared_ptr<const PcSampleWindow>>;
  void take(const Windows& windows);

  std::map<GpuId, OfGpu> gpus_;
  std::size_t taken_ = 0;  // windows of the trace that were taken
  std::shared_ptr<const PcSampleWindow> last_taken_;
  std::uint64_t windows_spread_ = 0;
};

}  // namespace lanescope
