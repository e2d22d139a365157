// nvtx_sum, nvtx_pushpop_sum, nvtx_startend_sum: time inside NVTX ranges, including that of inner ranges.
#include "../label_groups.h"
#include "../ranges/nvtx_ranges.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

// Samples of one kind of ranges, by domain and name.
template <typename Add>
void for_each_range_name(const Selection& selection, TrackKind kind, Add add) {
  SamplesByIds<3> samples;
  selection.for_each(kind, [&](const Track& track, const EventView& range) {
    samples.add({track.key.process, track.key.domain, range.name()}, range.duration());
  });
  samples.for_each([&](const std::array<std::uint32_t, 3>& ids, Samples durations) {
    const auto& [process, domain, name] = ids;
    add(range_name(selection.trace(), process, domain, name), std::move(durations));
  });
}

Table sum_of_kind(const Selection& selection, TrackKind kind, const ReportOptions& options) {
  LabelGroups groups;
  for_each_range_name(selection, kind, [&](const std::string& name, Samples durations) { groups.add({name}, std::move(durations)); });
  return groups.time_summary("Instances", {"Range"}, options.percentiles);
}

}  // namespace

Table nvtx_sum(const Selection& selection, const ReportOptions& options) {
  LabelGroups groups;
  for (const TrackKind kind : {TrackKind::kNvtxRanges, TrackKind::kNvtxProcessRanges})
    for_each_range_name(selection, kind, [&](const std::string& name, Samples durations) { groups.add({style_name(kind), name}, std::move(durations)); });
  return groups.time_summary("Instances", {"Style", "Range"}, options.percentiles);
}

Table nvtx_pushpop_sum(const Selection& selection, const ReportOptions& options) { return sum_of_kind(selection, TrackKind::kNvtxRanges, options); }
Table nvtx_startend_sum(const Selection& selection, const ReportOptions& options) { return sum_of_kind(selection, TrackKind::kNvtxProcessRanges, options); }

}  // namespace lanescope::stats
