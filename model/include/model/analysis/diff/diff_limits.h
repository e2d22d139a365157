// By how much a comparison may differ before it fails a build: limits on time, and on what counters said of kernels. Beyond noise: what may
// be chance exceeds no limit.
#pragma once

#include <string>
#include <string_view>

#include "model/analysis/diff/counter_diff.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/file/result.h"

namespace lanescope::analysis {

struct DiffLimit {
  // One of compared_metrics(), of any kernel; empty: the duration, the work of GPUs, and the duration of kernels that were measured.
  std::string_view metric;
  // Of what it was. 0 or more: it may grow by so much, and fall. With a minus, -0 as well: it may fall by so much, and grow.
  double percent = 0;
};

// "5%", "5", "L2 hit rate=-2%". Names of metrics are known in any case of letters. An error lists them.
[[nodiscard]] Result<DiffLimit> parse_diff_limit(std::string_view text);

enum class LimitVerdict {
  kKept,  // also of what the limit is not about
  kExceeded,
  kUnsure,  // it changed by more, but was measured too seldom to tell that from noise; or of time: noise may hide that it grew by more
};
[[nodiscard]] LimitVerdict judge(const DiffLimit& limit, const DiffItem& item) noexcept;
[[nodiscard]] LimitVerdict judge(const DiffLimit& limit, const CounterChange& change) noexcept;

}  // namespace lanescope::analysis
