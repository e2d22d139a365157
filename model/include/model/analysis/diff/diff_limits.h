// By how much a comparison may differ before it fails a build: limits on time, and on counters of kernels. Only changes beyond noise count: a change
// that may be chance exceeds no limit.
#pragma once

#include <string>
#include <string_view>

#include "model/analysis/diff/counter_diff.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/file/result.h"

namespace lanescope::analysis {

struct DiffLimit {
  // One of compared_metrics(), of any kernel. Empty: the duration, the work of GPUs, and the duration of kernels that were measured.
  std::string_view metric;
  // Percent of the first value. 0 or more: it may grow by this much, and may fall. With a minus, including -0: it may fall by this much, and may grow.
  double percent = 0;
};

// "5%", "5", "L2 hit rate=-2%". Names of metrics may be in upper or lower case. An error lists them.
[[nodiscard]] Result<DiffLimit> parse_diff_limit(std::string_view text);

enum class LimitVerdict {
  kKept,  // also for items that the limit is not about
  kExceeded,
  kUnsure,  // it changed by more, but was measured too seldom to tell that from noise; for time: noise may hide that it grew by more
};
[[nodiscard]] LimitVerdict judge(const DiffLimit& limit, const DiffItem& item) noexcept;
[[nodiscard]] LimitVerdict judge(const DiffLimit& limit, const CounterChange& change) noexcept;

}  // namespace lanescope::analysis
