#include "latecomers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "idle/gpu_operations.h"
#include "loop/iterations.h"

namespace lanescope::analysis {
namespace {

constexpr std::size_t kPermutations = 9'999, kLeastPermutations = 199;
constexpr std::size_t kMostMoved = 20'000'000;  // times, by all permutations of one test

// By how much totals spread.
double sum_of_squares(std::span<const double> totals) noexcept { return std::inner_product(totals.begin(), totals.end(), totals.begin(), 0.0); }

// How likely the totals of these ranks would spread as much if they were exchanged in each step.
double probability_of(const TimeBySteps& time, std::span<const std::size_t> ranks) {
  std::vector<std::vector<double>> steps;  // in which any of them has anything
  std::vector<double> totals(ranks.size());
  for (std::size_t step = 0; step < time.steps(); ++step) {
    std::vector<double> times;
    for (const std::size_t rank : ranks) times.push_back(static_cast<double>(time.times[step * time.ranks + rank]));
    for (std::size_t i = 0; i < times.size(); ++i) totals[i] += times[i];
    if (std::any_of(times.begin(), times.end(), [](double one) { return one > 0; })) steps.push_back(std::move(times));
  }
  if (steps.empty()) return 1;
  constexpr double kRounding = 1 - 1e-9;  // exchanged times are summed in another order
  const double seen = kRounding * sum_of_squares(totals);
  const std::size_t permutations = std::clamp(kMostMoved / (steps.size() * ranks.size()), kLeastPermutations, kPermutations);
  std::mt19937_64 random(1);
  std::size_t as_much = 0;
  for (std::size_t i = 0; i < permutations; ++i) {
    std::fill(totals.begin(), totals.end(), 0);
    for (std::vector<double>& times : steps) {
      for (std::size_t left = times.size(); left > 1; --left) std::swap(times[left - 1], times[random() % left]);
      for (std::size_t rank = 0; rank < times.size(); ++rank) totals[rank] += times[rank];
    }
    as_much += sum_of_squares(totals) >= seen ? 1 : 0;
  }
  return static_cast<double>(1 + as_much) / static_cast<double>(1 + permutations);
}

// Of each process, and how many the one with most has.
struct IterationTimes {
  std::map<ProcessId, std::vector<TimeRange>> of_process;
  std::size_t most = 0;
};
IterationTimes times_of(const Trace& trace, const LoopWork& work) {
  IterationTimes times;
  for (const IterationSeries& series : work.iterations())
    if (const auto [known, is_new] = times.of_process.try_emplace(series.process); is_new) {
      known->second = iteration_times(trace, series);
      times.most = std::max(times.most, known->second.size());
    }
  return times;
}

// In which of so many steps an iteration lies.
std::size_t step_of(std::size_t iteration, std::size_t iterations, std::size_t steps) noexcept { return iteration * steps / iterations; }

}  // namespace

Nanoseconds TimeBySteps::of(std::size_t rank) const noexcept {
  Nanoseconds sum = 0;
  for (std::size_t i = rank; i < times.size(); i += ranks) sum += times[i];
  return sum;
}

TimeBySteps waiting_by_steps(const Trace& trace, const LoopWork& work, std::span<const std::size_t> ranks) {
  const IterationTimes iterations = times_of(trace, work);
  std::vector<std::size_t> places(work.of_ranks().size(), ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) places[ranks[i]] = i;
  TimeRange all{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};
  const std::vector<KernelWait>& kernels = work.rank_waits().kernels;
  const auto begin_of = [&](const KernelWait& wait) { return trace.lane(wait.kernel.lane).start(wait.kernel.index); };
  for (const KernelWait& wait : kernels) all = {std::min(all.begin, begin_of(wait)), std::max(all.end, begin_of(wait) + 1)};
  const std::size_t steps = iterations.most == 0 ? kSlices : std::min(iterations.most, kMostSteps);
  TimeBySteps waiting{ranks.size(), std::vector<Nanoseconds>(steps * ranks.size())};
  for (const KernelWait& wait : kernels) {
    const std::size_t place = wait.origin == kNone ? ranks.size() : places[wait.origin];
    if (place == ranks.size()) continue;
    const Nanoseconds begin = begin_of(wait);
    std::size_t step = 0;
    if (const auto times = iterations.of_process.find(trace.track_of(wait.kernel.lane).key.process); times != iterations.of_process.end()) {
      const auto behind =
          std::upper_bound(times->second.begin(), times->second.end(), begin, [](Nanoseconds t, const TimeRange& time) { return t < time.begin; });
      step = step_of(static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, behind - times->second.begin()) - 1), iterations.most, steps);
    } else {
      step = static_cast<std::size_t>(static_cast<double>(begin - all.begin) / static_cast<double>(all.length()) * static_cast<double>(steps));
    }
    waiting.times[step * ranks.size() + place] += wait.exposed;
  }
  return waiting;
}

TimeBySteps computing_by_steps(const Trace& trace, const LoopWork& work, std::span<const std::size_t> ranks) {
  const IterationTimes iterations = times_of(trace, work);
  const std::size_t steps = std::min(iterations.most, kMostSteps);
  TimeBySteps computing{ranks.size(), std::vector<Nanoseconds>(steps * ranks.size())};
  const GpuTracks tracks(trace);
  NameMemo<bool> communicates(trace, is_communication_name);
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const RankWork& rank = work.of_ranks()[ranks[place]];
    const auto times = iterations.of_process.find(rank.process);
    if (times == iterations.of_process.end()) continue;
    ComputedTime computed(trace, tracks.of(rank.gpu, rank.process), communicates);
    for (std::size_t i = 0; i < times->second.size(); ++i) {
      const Nanoseconds begin = times->second[i].begin, end = i + 1 < times->second.size() ? times->second[i + 1].begin : times->second[i].end;
      computing.times[step_of(i, iterations.most, steps) * ranks.size() + place] += computed.within({begin, end});
    }
  }
  return computing;
}

std::vector<std::size_t> ranks_that_stand_out(const TimeBySteps& time, double level) {
  std::vector<Nanoseconds> totals(time.ranks);
  for (std::size_t rank = 0; rank < time.ranks; ++rank) totals[rank] = time.of(rank);
  std::vector<std::size_t> rest(time.ranks);
  std::iota(rest.begin(), rest.end(), std::size_t{0});
  std::stable_sort(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) { return totals[a] > totals[b]; });
  std::vector<std::size_t> found;
  while (rest.size() > 1 && found.size() < kMostLatecomers && totals[rest.front()] > 0 && probability_of(time, rest) <= level) {
    std::size_t above = 1;
    for (std::size_t i = 1; i < rest.size(); ++i)
      if (totals[rest[i - 1]] - totals[rest[i]] > totals[rest[above - 1]] - totals[rest[above]]) above = i;
    found.insert(found.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(above));
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(above));
  }
  found.resize(std::min(found.size(), kMostLatecomers));
  return found;
}

}  // namespace lanescope::analysis
