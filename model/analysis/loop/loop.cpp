#include "model/analysis/loop/loop.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "iterations.h"
#include "model/trace/combining/parts.h"
#include "repeating_work.h"

namespace lanescope::analysis {

namespace {

// How many iterations of each series warm up. Ranks that step together warm up together: those with the same family and as many iterations, at the same
// time.
std::vector<std::size_t> warm_ups_of(const Trace& trace, const std::vector<IterationSeries>& all) {
  const auto begin_of = [&](std::size_t i) { return trace.lane(all[i].ranges.front().lane).start(all[i].ranges.front().index); };
  const auto end_of = [&](std::size_t i) { return trace.lane(all[i].ranges.back().lane).end(all[i].ranges.back().index); };
  const auto kind_of = [&](std::size_t i) { return std::pair(all[i].family, all[i].ranges.size()); };
  std::vector<std::size_t> order(all.size()), warm_ups(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::pair(kind_of(a), begin_of(a)) < std::pair(kind_of(b), begin_of(b)); });
  for (auto first = order.begin(); first != order.end();) {
    Nanoseconds end = end_of(*first);
    std::size_t most = 0;
    auto last = first;
    for (; last != order.end() && kind_of(*last) == kind_of(*first) && (last == first || begin_of(*last) < end); ++last) {
      end = std::max(end, end_of(*last));
      most = std::max(most, warm_up_iterations(trace, all[*last]));
    }
    for (; first != last; ++first) warm_ups[*first] = most;
  }
  return warm_ups;
}

// True if the work in front of what repeats may be setup. Users switch PyTorch's profiler on after setup, and what repeats in its traces may be layers.
bool may_have_setup(const Trace& trace, ProcessId process) {
  const TracePart* const part = part_of_process(trace, process);
  return !(part == nullptr ? trace.provenance() : part->provenance).producer.starts_with("PyTorch");
}

}  // namespace

Loop::Loop(const Trace& trace, Families& families) : Loop(trace, find_iterations(trace, families)) {}

Loop::Loop(const Trace& trace, const std::vector<IterationSeries>& all) {
  const std::vector<std::size_t> warm_ups = warm_ups_of(trace, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const IterationSeries& series = all[i];
    const std::size_t warm_up = warm_ups[i];
    const std::vector<TimeRange> times = iteration_times(trace, series);
    left_out_ += series.left_out;
    inside_ += series.inside;
    elsewhere_ += series.elsewhere;
    iterations_ += times.size() - warm_up;
    families_.insert(series.family);
    const EventRef last = series.ranges.back();
    by_process_[series.process] = {{times[warm_up].begin, trace.lane(last.lane).end(last.index)}, series.family, times.size() - warm_up};
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
  const std::vector<IterationSeries> all = find_iterations(trace, families);
  const std::vector<std::size_t> warm_ups = warm_ups_of(trace, all);
  std::vector<Nanoseconds> lengths;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<TimeRange> times = iteration_times(trace, all[i]);
    for (const TimeRange time : std::span(times).subspan(warm_ups[i])) lengths.push_back(time.length());
  }
  return lengths;
}

}  // namespace lanescope::analysis
