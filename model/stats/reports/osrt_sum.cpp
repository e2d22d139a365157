// Calls into the C library that wait or touch files.
#include "../label_groups.h"
#include "../report_functions.h"

namespace lanescope::stats {

Table osrt_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  SamplesByName samples(trace);
  selection.for_each(TrackKind::kOsRuntime, [&](const Track&, const EventView& call) {
    if (call.detail() == kWholeCall) samples.add(call.name(), call.duration());
  });
  LabelGroups groups;
  samples.for_each([&](NameId name, Samples durations) { groups.add({trace.name(name)}, std::move(durations)); });
  return groups.time_summary("Num Calls", {"Name"}, options.percentiles);
}

}  // namespace lanescope::stats
