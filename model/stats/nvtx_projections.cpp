#include "nvtx_projections.h"

#include <algorithm>

#include "launches.h"

namespace lanescope::stats {

std::vector<Projection> project(const Selection& selection, const std::map<ThreadId, std::vector<NvtxRange>>& threads) {
  const Trace& trace = selection.trace();
  std::vector<Projection> projections;
  for (const auto& [thread, launches] :
       launches_by_thread(selection, {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})) {
    const auto found = threads.find(thread);
    if (found == threads.end()) continue;
    const std::vector<NvtxRange>& ranges = found->second;
    std::vector<Projection> of_thread(ranges.size());
    EnclosingRanges enclosing(ranges);
    for (const Launch& launch : launches)
      for (const std::size_t i : enclosing.around(time_of(trace, launch.call))) {
        Projection& projection = of_thread[i];
        const TimeRange time = time_of(trace, launch.operation);
        projection.projected = projection.operations == 0 ? time
                                                          : TimeRange{std::min(projection.projected.begin, time.begin),
                                                                      std::max(projection.projected.end, time.end)};
        ++projection.operations;
      }
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (of_thread[i].operations > 0 && ranges[i].parent != kNoRange) ++of_thread[ranges[i].parent].children;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (of_thread[i].operations == 0) continue;
      of_thread[i].ranges = &ranges;
      of_thread[i].index = i;
      of_thread[i].thread = thread;
      projections.push_back(of_thread[i]);
    }
  }
  return projections;
}

}  // namespace lanescope::stats
