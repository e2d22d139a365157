#include "kernel_names.h"

namespace lanescope::stats {

InnermostRanges::InnermostRanges(const Selection& selection, const ReportOptions& options) {
  if (options.range_prefix != RangePrefix::kInnermostRange) return;
  index_ = &selection.launch_index();
  ranges_ = CallRanges(selection);
}

std::string prefixed(const Trace& trace, NameId range, NameId kernel) {
  if (range == 0) return std::string(trace.name(kernel));
  return std::string(trace.name(range)) + "/" + std::string(trace.name(kernel));
}

}  // namespace lanescope::stats
