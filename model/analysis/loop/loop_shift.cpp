#include "model/analysis/loop/loop_shift.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iterations.h"
#include "model/analysis/loop/loop.h"
#include "repeating_work.h"

namespace lanescope::analysis {
namespace {

// The iterations of one family in one trace.
class Iterations {
 public:
  Iterations(const Trace& trace, const std::vector<IterationSeries>& series) {
    const Loop loop(trace, series);
    for (const IterationSeries& each : series) {
      times_.push_back(iteration_times(trace, each));
      warm_up_ = std::max(warm_up_, times_.back().size() - loop.iterations(each.process));
    }
  }
  [[nodiscard]] std::size_t warm_up() const noexcept { return warm_up_; }
  // Where the iteration begins in the process that comes to it first; nothing if none has that many.
  [[nodiscard]] std::optional<Nanoseconds> begin_of(std::size_t iteration) const {
    std::optional<Nanoseconds> begin;
    for (const std::vector<TimeRange>& times : times_)
      if (iteration < times.size()) begin = std::min(begin.value_or(times[iteration].begin), times[iteration].begin);
    return begin;
  }

 private:
  std::vector<std::vector<TimeRange>> times_;  // by process
  std::size_t warm_up_ = 0;
};

std::optional<Nanoseconds> shift_of(const Iterations& first, const Iterations& second) {
  const std::size_t common = std::max(first.warm_up(), second.warm_up());
  const std::optional<Nanoseconds> a = first.begin_of(common), b = second.begin_of(common);
  if (a && b) return *a - *b;
  return *first.begin_of(first.warm_up()) - *second.begin_of(second.warm_up());
}

std::optional<Nanoseconds> shift_by_ranges(const Trace& first, const Trace& second) {
  Families of_first(first), of_second(second);
  const std::vector<IterationSeries> chosen_first = find_iterations(first, of_first), chosen_second = find_iterations(second, of_second);
  for (const std::string* family : {chosen_first.empty() ? nullptr : &of_first.text(chosen_first.front().family),
                                    chosen_second.empty() ? nullptr : &of_second.text(chosen_second.front().family)}) {
    if (family == nullptr) continue;
    const std::vector<IterationSeries> a = find_iterations(first, of_first, *family), b = find_iterations(second, of_second, *family);
    if (!a.empty() && !b.empty()) return shift_of(Iterations(first, a), Iterations(second, b));
  }
  return std::nullopt;
}

// Where work begins to repeat, by the name of what marks it.
std::map<std::string_view, Nanoseconds> begins_of_work(const Trace& trace) {
  std::map<std::string_view, Nanoseconds> begins;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    for (const RepeatingWork& work : find_repeating_work(trace, process)) {
      const auto [at, is_new] = begins.try_emplace(trace.name(work.marker), work.begin);
      if (!is_new) at->second = std::min(at->second, work.begin);
    }
  return begins;
}

std::optional<Nanoseconds> shift_by_work(const Trace& first, const Trace& second) {
  const std::map<std::string_view, Nanoseconds> in_first = begins_of_work(first), in_second = begins_of_work(second);
  std::optional<Nanoseconds> earliest, shift;
  for (const auto& [marker, begin] : in_first) {
    const auto same = in_second.find(marker);
    if (same == in_second.end() || (earliest && begin >= *earliest)) continue;
    earliest = begin;
    shift = begin - same->second;
  }
  return shift;
}

}  // namespace

std::optional<Nanoseconds> shift_by_loop(const Trace& first, const Trace& second) {
  if (const std::optional<Nanoseconds> shift = shift_by_ranges(first, second)) return shift;
  return shift_by_work(first, second);
}

}  // namespace lanescope::analysis
