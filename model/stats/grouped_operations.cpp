#include "grouped_operations.h"

#include "columns/kernel_names.h"
#include "in_parts.h"

namespace lanescope::stats {
void add_api_calls(const Selection& selection, const std::vector<std::string_view>& labels, LabelGroups& groups) {
  const Trace& trace = selection.trace();
  SamplesByName samples(trace);
  selection.for_each(TrackKind::kCudaApi, [&](const Track&, const EventView& call) { samples.add(call.name(), call.duration()); });
  samples.for_each([&](NameId name, Samples durations) { groups.add(labels, api_display_name(trace.name(name)), std::move(durations)); });
}

void add_kernels(const Selection& selection, const ReportOptions& options, const std::vector<std::string_view>& labels, LabelGroups& groups) {
  const Trace& trace = selection.trace();
  if (options.range_prefix == RangePrefix::kNone) {
    SamplesByName samples(trace);
    selection.for_each(TrackKind::kKernels,
                       [&](const Track&, const EventView& kernel) { samples.add(kernel_name(trace, kernel, options.kernel_names), kernel.duration()); });
    samples.for_each([&](NameId name, Samples durations) { groups.add(labels, trace.name(name), std::move(durations)); });
    return;
  }
  const InnermostRanges ranges(selection, options);
  const auto add = [&](SamplesByIds<2>& samples, const Track& track, const EventView& kernel) {
    samples.add({ranges.of_kernel(track, kernel), kernel_name(trace, kernel, options.kernel_names)}, kernel.duration());
  };
  for (SamplesByIds<2>& part : visit_in_parts(selection, TrackKind::kKernels, SamplesByIds<2>(), add))
    part.for_each(
        [&](const std::array<std::uint32_t, 2>& ids, Samples durations) { groups.add(labels, prefixed(trace, ids[0], ids[1]), std::move(durations)); });
}

void add_memory_operations(const Selection& selection, const std::vector<std::string_view>& labels, LabelGroups& groups) {
  const Trace& trace = selection.trace();
  SamplesByName samples(trace);
  selection.for_each(TrackKind::kMemory, [&](const Track&, const EventView& operation) { samples.add(operation.name(), operation.duration()); });
  samples.for_each([&](NameId name, Samples durations) { groups.add(labels, trace.name(name), std::move(durations)); });
}

}  // namespace lanescope::stats
