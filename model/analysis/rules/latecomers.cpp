#include "latecomers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "../diff/mean_change.h"
#include "idle/gpu_operations.h"
#include "loop/iterations.h"

namespace lanescope::analysis {
namespace {

constexpr std::size_t kPermutations = 9'999, kLeastPermutations = 199;
constexpr std::size_t kMostMoved = 20'000'000;  // times that are moved by all permutations of one test together

constexpr double kNotAlike = 2;            // standard errors of a correlation: more is beyond chance
constexpr std::size_t kCorrelations = 20;  // number of correlations of successive stretches, from 0 to kMostAlikeStretches, that are weighed
constexpr double kMostAlikeStretches = 0.99;
constexpr double kSeldomAlike = 0.5;  // prior: a correlation is as likely as its distance from 1 to this power

// The times of some ranks in each stretch of steps, in order.
struct Stretches {
  std::size_t ranks = 0;
  std::vector<double> times;  // those of a stretch, one a rank, followed by those of the next
  [[nodiscard]] std::size_t size() const noexcept { return times.size() / ranks; }
  [[nodiscard]] std::span<double> at(std::size_t stretch) noexcept { return std::span(times).subspan(stretch * ranks, ranks); }
  [[nodiscard]] std::span<const double> at(std::size_t stretch) const noexcept { return std::span(times).subspan(stretch * ranks, ranks); }
  [[nodiscard]] std::vector<double> totals() const {
    std::vector<double> totals(ranks);
    for (std::size_t i = 0; i < times.size(); ++i) totals[i % ranks] += times[i];
    return totals;
  }
};

double mean_over_ranks(std::span<const double> values) noexcept {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The difference of each time from the mean of all ranks in its stretch, minus the rank's average difference over all stretches.
Stretches residuals_of(const Stretches& all) {
  Stretches residuals = all;
  for (std::size_t stretch = 0; stretch < all.size(); ++stretch) {
    const double mean = mean_over_ranks(all.at(stretch));
    for (double& time : residuals.at(stretch)) time -= mean;
  }
  const std::vector<double> totals = residuals.totals();
  for (std::size_t i = 0; i < residuals.times.size(); ++i) residuals.times[i] -= totals[i % all.ranks] / static_cast<double>(all.size());
  return residuals;
}

// The sum of products of residuals that are a lag apart, without the `first` stretches at the start and the `last` ones at the end.
double products_at_lag(const Stretches& residuals, std::size_t lag, std::size_t first = 0, std::size_t last = 0) noexcept {
  const std::size_t begin = first * residuals.ranks, end = residuals.times.size() - (lag + last) * residuals.ranks;
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += residuals.times[i] * residuals.times[i + lag * residuals.ranks];
  return sum;
}

// The number of stretches for which the probability that one order of the ranks is the same in all is at most one in a hundred.
std::size_t least_stretches(std::size_t ranks) noexcept {
  constexpr std::size_t kLeast = 5;
  return std::max(kLeast, 1 + static_cast<std::size_t>(std::ceil(std::log(100.0) / std::log(static_cast<double>(ranks)))));
}

// The number of steps for which the times of ranks stay alike: up to the first lag at which they correlate no more than by chance, and at most so that
// enough stretches are left to tell. The bias from the means of few steps is corrected.
std::size_t steps_alike(const Stretches& steps) {
  const Stretches residuals = residuals_of(steps);
  const auto n = static_cast<double>(steps.size());
  const double squares = products_at_lag(residuals, 0), by_chance = kNotAlike / std::sqrt(n * static_cast<double>(steps.ranks - 1));
  const std::size_t most = steps.size() / least_stretches(steps.ranks);
  std::size_t lag = 1;
  if (squares <= 0) return lag;
  while (lag < most && products_at_lag(residuals, lag) / squares + (n - static_cast<double>(lag)) / (n * n) > by_chance) ++lag;
  return lag;
}

// Stretches of this many steps each; some are longer if the number of steps is not a multiple.
Stretches stretches_of(const Stretches& steps, std::size_t length) {
  const std::size_t count = steps.size() / length;
  Stretches stretches{steps.ranks, std::vector<double>(count * steps.ranks)};
  for (std::size_t stretch = 0; stretch < count; ++stretch)
    for (std::size_t step = stretch * steps.size() / count; step < (stretch + 1) * steps.size() / count; ++step)
      for (std::size_t rank = 0; rank < steps.ranks; ++rank) stretches.at(stretch)[rank] += steps.at(step)[rank];
  return stretches;
}

// The probability that the means of ranks differ as much as they do, given the differences between the stretches of each rank: Fisher's F. Few
// stretches do not tell how alike successive stretches are. So the probabilities for several correlations are averaged, each weighed by its residual
// likelihood, as in MeanChange, and by how common it is.
double probability_of_variances(const Stretches& stretches) {
  const Stretches residuals = residuals_of(stretches);
  const auto n = static_cast<double>(stretches.size()), ranks = static_cast<double>(stretches.ranks);
  const double first_degrees = ranks - 1, second_degrees = (ranks - 1) * (n - 1);
  const double all = products_at_lag(residuals, 0), interior = products_at_lag(residuals, 0, 1, 1), neighbours = products_at_lag(residuals, 1);
  const std::vector<double> totals = stretches.totals();
  double between = 0;
  const double mean = mean_over_ranks(totals);
  for (const double total : totals) between += (total - mean) * (total - mean) / (n * n);
  if (all <= 0) return between > 0 ? 0 : 1;
  std::vector<double> likelihoods, probabilities;
  for (std::size_t i = 0; i < kCorrelations; ++i) {
    const double alike = kMostAlikeStretches * static_cast<double>(i) / (kCorrelations - 1);
    const double spread = std::max((all - 2 * alike * neighbours + alike * alike * interior) / (1 - alike * alike), std::numeric_limits<double>::min());
    const double terms = -0.5 * (n - 1) * std::log1p(-alike * alike) - 0.5 * std::log((n - (n - 2) * alike) / (1 + alike));
    likelihoods.push_back((ranks - 1) * terms - 0.5 * second_degrees * std::log(spread) + kSeldomAlike * std::log1p(-alike));
    const double f = effective_number(n, alike) * between / first_degrees / (spread / second_degrees);
    probabilities.push_back(fisher_above(f, first_degrees, second_degrees));
  }
  const double most = *std::max_element(likelihoods.begin(), likelihoods.end());
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < likelihoods.size(); ++i) {
    const double weight = std::exp(likelihoods[i] - most);
    sum += weight * probabilities[i];
    weights += weight;
  }
  return sum / weights;
}

// A measure of how much totals spread.
double sum_of_squares(std::span<const double> totals) noexcept { return std::inner_product(totals.begin(), totals.end(), totals.begin(), 0.0); }

// The probability that the totals of ranks spread as much if their times are exchanged within each stretch.
double probability_of_exchanges(Stretches stretches) {
  constexpr double kRounding = 1 - 1e-9;  // exchanged times are summed in another order
  const double seen = kRounding * sum_of_squares(stretches.totals());
  const std::size_t permutations = std::clamp(kMostMoved / stretches.times.size(), kLeastPermutations, kPermutations);
  std::mt19937_64 random(1);
  std::size_t as_much = 0;
  std::vector<double> totals(stretches.ranks);
  for (std::size_t i = 0; i < permutations; ++i) {
    std::fill(totals.begin(), totals.end(), 0);
    for (std::size_t stretch = 0; stretch < stretches.size(); ++stretch) {
      const std::span<double> times = stretches.at(stretch);
      for (std::size_t left = times.size(); left > 1; --left) std::swap(times[left - 1], times[random() % left]);
      for (std::size_t rank = 0; rank < times.size(); ++rank) totals[rank] += times[rank];
    }
    as_much += sum_of_squares(totals) >= seen ? 1 : 0;
  }
  return static_cast<double>(1 + as_much) / static_cast<double>(1 + permutations);
}

// True if the probability that these ranks differ as much by chance is at most `level`.
bool differ_beyond_chance(const TimeBySteps& time, std::span<const std::size_t> ranks, double level) {
  Stretches steps{ranks.size(), {}};
  for (std::size_t step = 0; step < time.steps(); ++step)
    for (const std::size_t rank : ranks) steps.times.push_back(static_cast<double>(time.times[step * time.ranks + rank]));
  if (steps.size() == 0) return false;
  Stretches stretches = stretches_of(steps, steps_alike(steps));
  return stretches.size() > 1 && probability_of_variances(stretches) <= level && probability_of_exchanges(std::move(stretches)) <= level;
}

// The iterations of each process of a program, and the largest number of any process.
struct IterationTimes {
  std::map<ProcessId, std::vector<TimeRange>> of_process;
  std::size_t most = 0;
};
IterationTimes times_of(const Trace& trace, const LoopWork& work, const RanksOfProgram& program) {
  IterationTimes times;
  std::set<ProcessId> processes;
  for (const std::size_t rank : program.ranks) processes.insert(work.of_ranks()[rank].process);
  for (const IterationSeries& series : work.iterations()) {
    if (!processes.contains(series.process)) continue;
    if (const auto [known, is_new] = times.of_process.try_emplace(series.process); is_new) {
      known->second = iteration_times(trace, series);
      times.most = std::max(times.most, known->second.size());
    }
  }
  return times;
}

// The step, out of `steps`, that contains an iteration.
std::size_t step_of(std::size_t iteration, std::size_t iterations, std::size_t steps) noexcept { return iteration * steps / iterations; }

}  // namespace

Nanoseconds TimeBySteps::of(std::size_t rank) const noexcept {
  Nanoseconds sum = 0;
  for (std::size_t i = rank; i < times.size(); i += ranks) sum += times[i];
  return sum;
}

TimeBySteps waiting_by_steps(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, std::span<const std::size_t> ranks) {
  const IterationTimes iterations = times_of(trace, work, program);
  std::vector<std::size_t> places(program.ranks.size(), ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) places[ranks[i]] = i;
  TimeRange all{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};
  const std::vector<KernelWait>& kernels = program.waits.kernels;
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

TimeBySteps computing_by_steps(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, std::span<const std::size_t> ranks) {
  const IterationTimes iterations = times_of(trace, work, program);
  const std::size_t steps = std::min(iterations.most, kMostSteps);
  TimeBySteps computing{ranks.size(), std::vector<Nanoseconds>(steps * ranks.size())};
  const GpuTracks tracks(trace);
  NameMemo<bool> communicates(trace, is_communication_name);
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const RankWork& rank = work.of_ranks()[program.ranks[ranks[place]]];
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
  while (rest.size() > 1 && found.size() < kMostLatecomers && totals[rest.front()] > 0 && differ_beyond_chance(time, rest, level)) {
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
