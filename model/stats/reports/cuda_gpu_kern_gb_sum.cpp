// Kernels by name and launch shape.
#include <map>

#include "../columns/kernel_names.h"
#include "../in_parts.h"
#include "../label_groups.h"
#include "../report_functions.h"
#include "grid_text.h"

namespace lanescope::stats {

namespace {

// Kernels by range, name and launch shape. Many details share a shape, which is identified by the number of the first of them.
class KernelsByShape {
 public:
  void add(const Trace& trace, NameId range, NameId name, DetailId detail, Nanoseconds duration) {
    if (detail >= shapes_.size()) shapes_.resize(detail + 1, kNone);
    if (shapes_[detail] == kNone) shapes_[detail] = shape_of(trace.kernel_detail(detail), detail);
    samples_.add({range, name, shapes_[detail]}, duration);
  }
  template <typename Take>
  void for_each(Take take) {
    samples_.for_each(take);
  }

 private:
  DetailId shape_of(const KernelDetail& detail, DetailId id) {
    const auto& [x, y, z] = detail.grid;
    const auto& [u, v, w] = detail.block;
    return first_of_shape_.try_emplace({x, y, z, u, v, w}, id).first->second;
  }
  std::map<std::array<std::uint32_t, 6>, DetailId> first_of_shape_;
  std::vector<DetailId> shapes_;  // by detail
  SamplesByIds<3> samples_;
};

}  // namespace

Table cuda_gpu_kern_gb_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const InnermostRanges ranges(selection, options);
  const auto add = [&](KernelsByShape& kernels, const Track& track, const EventView& kernel) {
    kernels.add(trace, ranges.of_kernel(track, kernel), kernel_name(trace, kernel, options.kernel_names), kernel.detail(), kernel.duration());
  };
  LabelGroups groups;
  for (KernelsByShape& part : visit_in_parts(selection, TrackKind::kKernels, KernelsByShape(), add))
    part.for_each([&](const std::array<std::uint32_t, 3>& ids, Samples durations) {
      const auto& [range, name, id] = ids;
      const KernelDetail& detail = trace.kernel_detail(id);
      groups.add({grid_text(detail.grid), grid_text(detail.block), prefixed(trace, range, name)}, std::move(durations));
    });
  return groups.time_summary("Instances", {"GridXYZ", "BlockXYZ", "Name"}, options.percentiles);
}

}  // namespace lanescope::stats
