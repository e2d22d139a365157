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
  SamplesByIds<3> samples;
  selection.for_each(TrackKind::kKernels, [&](const Track&, const EventView& kernel) {
    const NameId range = prefixes ? ranges.name(kernel.ref) : NameId{0};
    samples.add({range, kernel_name(trace, kernel, options.kernel_names), kernel.detail()}, kernel.duration());
  });
  LabelGroups groups;
  samples.for_each([&](const std::array<std::uint32_t, 3>& ids, Samples durations) {
    const auto& [range, name, id] = ids;
    const KernelDetail& detail = trace.kernel_detail(id);
    groups.add({grid_text(detail.grid), grid_text(detail.block), prefixed(trace, range, name)}, std::move(durations));
  });
  return time_summary("Instances", {"GridXYZ", "BlockXYZ", "Name"}, groups.take(), options.percentiles);
}

}  // namespace lanescope::stats
