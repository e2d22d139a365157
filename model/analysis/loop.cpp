#include "model/analysis/loop.h"

#include "iterations.h"

namespace lanescope::analysis {

Loop::Loop(const Trace& trace, Families& families) {
  for (const IterationSeries& series : find_iterations(trace, families)) {
    const EventRef first = series.ranges[warm_up_iterations(trace, series)];
    const Lane& lane = trace.lane(first.lane);
    const TimeRange time{lane.start(first.index), lane.end(series.ranges.back().index)};
    hull_ = by_process_.empty() ? time : TimeRange{std::min(hull_.begin, time.begin), std::max(hull_.end, time.end)};
    by_process_[series.process] = time;
    family_ = series.family;
  }
}

}  // namespace lanescope::analysis
