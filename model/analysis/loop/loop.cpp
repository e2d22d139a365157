#include "model/analysis/loop/loop.h"

#include <algorithm>
#include <limits>

#include "iterations.h"
#include "repeating_work.h"

namespace lanescope::analysis {

Loop::Loop(const Trace& trace, Families& families) : Loop(trace, find_iterations(trace, families)) {}

Loop::Loop(const Trace& trace, const std::vector<IterationSeries>& all) {
  std::map<std::size_t, std::size_t> warm_ups;  // by the number of iterations: ranks that step together warm up together
  for (const IterationSeries& series : all) warm_ups[series.ranges.size()] = std::max(warm_ups[series.ranges.size()], warm_up_iterations(trace, series));
  for (const IterationSeries& series : all) {
    const std::size_t warm_up = warm_ups[series.ranges.size()];
    const std::vector<TimeRange> times = iteration_times(trace, series);
    iterations_ += times.size() - warm_up;
    left_out_ += series.left_out;
    const EventRef last = series.ranges.back();
    by_process_[series.process] = {times[warm_up].begin, trace.lane(last.lane).end(last.index)};
    family_ = series.family;
  }
  if (known()) return;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    if (const std::vector<RepeatingWork> work = find_repeating_work(trace, process); !work.empty())
      by_process_[process] = {work.front().begin, trace.extent().end};
}

std::size_t Loop::runs() const {
  std::vector<TimeRange> times;
  for (const auto& [process, time] : by_process_) times.push_back(time);
  std::sort(times.begin(), times.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
  std::size_t runs = 0;
  Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
  for (const TimeRange time : times) {
    if (time.begin >= end) ++runs;
    end = std::max(end, time.end);
  }
  return runs;
}

}  // namespace lanescope::analysis
