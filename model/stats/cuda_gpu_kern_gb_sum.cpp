// Kernels by name and launch shape.
#include "grid_text.h"
#include "kernel_names.h"
#include "label_groups.h"
#include "report_functions.h"

namespace lanescope::stats {

Table cuda_gpu_kern_gb_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const bool prefixes = options.range_prefix == RangePrefix::kInnermostRange;
  const InnermostRanges ranges = prefixes ? InnermostRanges(selection) : InnermostRanges();
  // Many details share a shape and a name; they meet under their labels.
  std::map<NameId, SamplesByPair> by_range;
  selection.for_each(TrackKind::kKernels, [&](const Track&, const EventView& kernel) {
    const NameId range = prefixes ? ranges.name(kernel.ref) : NameId{0};
    by_range[range].add(kernel_name(trace, kernel, options.kernel_names), kernel.detail(), kernel.duration());
  });
  LabelGroups groups;
  for (auto& [range, samples] : by_range)
    samples.for_each([&, range = range](NameId name, DetailId id, Samples durations) {
      const KernelDetail& detail = trace.kernel_detail(id);
      groups.add({grid_text(detail.grid), grid_text(detail.block), prefixed(trace, range, name)}, std::move(durations));
    });
  return time_summary("Instances", {"GridXYZ", "BlockXYZ", "Name"}, groups.take(), options.percentiles);
}

}  // namespace lanescope::stats
