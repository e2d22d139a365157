#include "model/analysis/loop.h"

#include "iterations.h"
#include "repeating_work.h"

namespace lanescope::analysis {

Loop::Loop(const Trace& trace, Families& families) : Loop(trace, find_iterations(trace, families)) {}

Loop::Loop(const Trace& trace, const std::vector<IterationSeries>& all) {
  std::map<std::size_t, std::size_t> warm_ups;  // by the number of iterations: ranks that step together warm up together
  for (const IterationSeries& series : all)
    warm_ups[series.ranges.size()] = std::max(warm_ups[series.ranges.size()], warm_up_iterations(trace, series));
  for (const IterationSeries& series : all) {
    const std::size_t warm_up = warm_ups[series.ranges.size()];
    const std::vector<TimeRange> times = iteration_times(trace, series);
    iterations_ += times.size() - warm_up;
    left_out_ += series.left_out;
    const EventRef last = series.ranges.back();
    add(series.process, {times[warm_up].begin, trace.lane(last.lane).end(last.index)});
    family_ = series.family;
  }
  if (known()) return;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    if (const std::vector<RepeatingWork> work = find_repeating_work(trace, process); !work.empty())
      add(process, {work.front().begin, trace.extent().end});
}

void Loop::add(ProcessId process, TimeRange time) {
  hull_ = by_process_.empty() ? time : TimeRange{std::min(hull_.begin, time.begin), std::max(hull_.end, time.end)};
  by_process_[process] = time;
}

TimeRange Loop::time(const Trace& trace, const LaunchIndex& launches) const {
  TimeRange time = hull_;
  for (const Track& track : trace.tracks()) {
    const auto process = by_process_.find(track.key.process);
    if (!is_gpu_work(track.key.kind) || process == by_process_.end()) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = lane.size(); i > 0 && lane.end(i - 1) > time.end; --i) {
        const EventRef launch = launches.find(track.key.process, lane.correlation(i - 1), lane.start(i - 1));
        if (!launch.valid() || trace.lane(launch.lane).start(launch.index) >= process->second.end) continue;
        time.end = lane.end(i - 1);
        break;
      }
    }
  }
  return time;
}

}  // namespace lanescope::analysis
