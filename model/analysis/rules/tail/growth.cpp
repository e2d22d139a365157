#include "growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/trace/median.h"

namespace lanescope::analysis {
namespace {

// Ranks from 0 on; equal times have the mean of their ranks.
std::vector<double> ranks_of(std::span<const Nanoseconds> times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  std::vector<double> ranks(times.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && times[order[end]] == times[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
    first = end;
  }
  return ranks;
}

// Spearman's correlation of times and their order, in standard deviations of what chance gives.
double trend_of(std::span<const Nanoseconds> times) {
  const std::vector<double> ranks = ranks_of(times);
  const double middle = static_cast<double>(times.size() - 1) / 2;
  double products = 0, of_ranks = 0, of_order = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double order = static_cast<double>(i) - middle, rank = ranks[i] - middle;
    products += order * rank, of_ranks += rank * rank, of_order += order * order;
  }
  if (of_ranks == 0) return 0;  // all times are equal
  return products / std::sqrt(of_ranks * of_order) * std::sqrt(static_cast<double>(times.size() - 1));
}

Nanoseconds median_of(std::span<const Nanoseconds> times) { return median<Nanoseconds>({times.begin(), times.end()}); }

}  // namespace

std::optional<Growth> growth_of(std::span<const Nanoseconds> times) {
  constexpr std::size_t kLeast = 30;        // so that a tenth has three
  constexpr double kBeyondChance = 3.0902;  // of the normal distribution: one in a thousand
  if (times.size() < kLeast) return std::nullopt;
  const std::size_t tenth = times.size() / 10;
  const Growth growth{tenth, median_of(times.first(tenth)), median_of(times.last(tenth))};
  if (growth.last - growth.first < growth.first / 10 || growth.last <= growth.first) return std::nullopt;
  if (trend_of(times) < kBeyondChance || trend_of(times.first(times.size() - tenth)) < kBeyondChance) return std::nullopt;
  return growth;
}

IndexRange neighbours_of(std::size_t place, std::size_t count) noexcept {
  constexpr std::size_t kOnEitherSide = 20;
  return {place - std::min(place, kOnEitherSide), std::min(count, place + kOnEitherSide + 1)};
}

}  // namespace lanescope::analysis
