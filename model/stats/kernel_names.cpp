#include "kernel_names.h"

#include "nvtx_ranges.h"

namespace lanescope::stats {

InnermostRanges::InnermostRanges(const Selection& selection)
    : InnermostRanges(selection, launches_by_thread(selection, {TrackKind::kKernels})) {}

InnermostRanges::InnermostRanges(const Selection& selection, const std::map<ThreadId, Launches>& threads)
    : names_(selection.trace().lanes().size()) {
  const Trace& trace = selection.trace();
  selection.for_each_lane(TrackKind::kKernels, [&](const Track&, LaneId lane) { names_[lane].resize(trace.lane(lane).size()); });
  const auto ranges = ranges_by_thread(selection, RangeKinds::kAll);
  for (const auto& [thread, launches] : threads) {
    const auto found = ranges.find(thread);
    if (found == ranges.end()) continue;
    EnclosingRanges enclosing(found->second);
    for (const Launch& launch : launches)
      if (const std::size_t range = enclosing.innermost(time_of(trace, launch.call)); range != kNoRange)
        names_[launch.operation.lane][launch.operation.index] = found->second[range].name;
  }
}

NameId InnermostRanges::name(EventRef kernel) const { return names_[kernel.lane][kernel.index]; }

std::string prefixed(const Trace& trace, NameId range, NameId kernel) {
  if (range == 0) return std::string(trace.name(kernel));
  return std::string(trace.name(range)) + "/" + std::string(trace.name(kernel));
}

}  // namespace lanescope::stats
