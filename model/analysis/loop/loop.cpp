#include "model/analysis/loop/loop.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "iterations.h"
#include "model/trace/combining/parts.h"
#include "repeating_work.h"

namespace lanescope::analysis {

namespace {

// True if the work in front of what repeats may be setup. Users switch PyTorch's profiler on after setup, and what repeats in its traces may be layers.
bool may_have_setup(const Trace& trace, ProcessId process) {
  const TracePart* const part = part_of_process(trace, process);
  return !(part == nullptr ? trace.provenance() : part->provenance).producer.starts_with("PyTorch");
}

}  // namespace

Loop::Loop(const Trace& trace, Families& families) : Loop(trace, find_iterations(trace, families)) {}

Loop::Loop(const Trace& trace, const std::vector<IterationSeries>& all) {
  for (const IterationSeries& series : all) {
    const std::vector<TimeRange> times = iteration_times(trace, series);
    left_out_ += series.left_out;
    inside_ += series.inside;
    elsewhere_ += series.elsewhere;
    iterations_ += times.size() - series.warm_up;
    families_.insert(series.family);
    const EventRef last = series.ranges.back();
    by_process_[series.process] = {{times[series.warm_up].begin, trace.lane(last.lane).end(last.index)}, series.family, times.size() - series.warm_up};
  }
  if (!all.empty()) family_ = all.front().family;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    if (!by_process_.contains(process) && may_have_setup(trace, process))
      if (const std::vector<RepeatingWork> work = find_repeating_work(trace, process); !work.empty()) {
        by_process_[process] = {{work.front().begin, trace.extent().end}, 0, 0};
        families_.insert(0);
      }
}

std::size_t Loop::runs() const {
  std::vector<TimeRange> times;
  for (const auto& [process, loop] : by_process_) times.push_back(loop.time);
  std::sort(times.begin(), times.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
  std::size_t runs = 0;
  Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
  for (const TimeRange time : times) {
    if (time.begin >= end) ++runs;
    end = std::max(end, time.end);
  }
  return runs;
}

std::vector<Nanoseconds> iteration_lengths(const Trace& trace) {
  Families families(trace);
  std::vector<Nanoseconds> lengths;
  for (const IterationSeries& series : find_iterations(trace, families)) {
    const std::vector<TimeRange> times = iteration_times(trace, series);
    for (const TimeRange time : std::span(times).subspan(series.warm_up)) lengths.push_back(time.length());
  }
  return lengths;
}

}  // namespace lanescope::analysis
