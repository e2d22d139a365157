#include "mean_change.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanescope::analysis {
namespace {

// Longer series are cut into about as many blocks: enough to tell the spread, and long enough that one says little about the next.
constexpr std::size_t kBlocks = 20;
constexpr double kMostAlike = 0.9;  // correlation of neighbours; more can't be told from a trend

// The incomplete beta function's continued fraction (Abramowitz and Stegun 26.5.8), by Lentz's method.
double beta_fraction(double a, double b, double x) noexcept {
  constexpr double kTiny = 1e-300, kPrecision = 1e-14;
  constexpr int kMostTerms = 500;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < kPrecision) break;
  }
  return fraction;
}

// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) noexcept {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// How many independent ones tell as much of their mean as so many blocks whose neighbours are alike (Bayley and Hammersley 1946).
double effective_number(double blocks, double alike) noexcept {
  double sum = 1, power = 1;
  for (double k = 1; k < blocks; ++k) {
    power *= alike;
    sum += 2 * (1 - k / blocks) * power;
  }
  return blocks / sum;
}

}  // namespace

double student_two_sided(double t, double degrees) noexcept {
  if (std::isinf(t)) return 0;
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double discovery_level(std::vector<double> probabilities, double false_discoveries) {
  std::sort(probabilities.begin(), probabilities.end());
  const auto count = static_cast<double>(std::max<std::size_t>(1, probabilities.size()));
  for (std::size_t i = probabilities.size(); i > 0; --i)
    if (const double level = false_discoveries * static_cast<double>(i) / count; probabilities[i - 1] <= level) return level;
  return false_discoveries / count;
}

MeanChange::Side MeanChange::side_of(std::span<const double> series, std::size_t most_blocks) {
  const std::size_t block_length = (series.size() + most_blocks - 1) / most_blocks;
  const std::size_t blocks = series.size() / block_length;
  Side side;
  side.length = static_cast<double>(series.size());
  side.blocks = static_cast<double>(blocks);
  side.degrees = side.blocks - 1;
  for (const double sample : series) side.mean += sample / side.length;
  double before = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * series.size() / blocks, end = (block + 1) * series.size() / blocks;
    const auto length = static_cast<double>(end - begin);
    double distance = 0;
    for (std::size_t i = begin; i < end; ++i) distance += (series[i] - side.mean) / length;
    side.squares += length * distance * distance;
    side.distances += distance * distance;
    side.neighbours += before * distance;
    before = distance;
  }
  return side;
}

MeanChange MeanChange::of_samples(std::span<const double> first, std::span<const double> second) {
  MeanChange change(side_of(first, kBlocks), side_of(second, kBlocks), Spread::kOwn);
  change.allow_for_neighbours();
  return change;
}

MeanChange MeanChange::of_runs(std::span<const double> first, std::span<const double> second) {
  const bool many = std::min(first.size(), second.size()) >= kLeastSamples;
  return {side_of(first, first.size()), side_of(second, second.size()), many ? Spread::kOwn : Spread::kCommon};
}

// The correlation of neighbours is estimated from both sides together; its estimate is too low by about one part in their number. Few
// blocks tell little of it, so it is taken to be higher by its standard error: what is missed then is found with more samples, a false
// alarm is not.
void MeanChange::allow_for_neighbours() noexcept {
  if (first_.mean <= 0 || second_.mean <= 0) return;
  const double a = 1 / (first_.mean * first_.mean), b = 1 / (second_.mean * second_.mean);
  const double spread = a * first_.distances + b * second_.distances;
  if (spread <= 0) return;
  const double blocks = first_.blocks + second_.blocks;
  const double seen = (a * first_.neighbours + b * second_.neighbours) / spread;
  const double alike = std::clamp(seen + 2 / blocks + 1 / std::sqrt(blocks), 0.0, kMostAlike);
  first_.degrees = effective_number(first_.blocks, alike) - 1;
  second_.degrees = effective_number(second_.blocks, alike) - 1;
}

double MeanChange::probability(double ratio) const noexcept {
  constexpr double kRounding = 1e-12;
  const double expected = ratio * first_.mean, distance = std::abs(second_.mean - expected);
  const double first_squares = ratio * ratio * first_.squares;
  if (distance <= kRounding * std::max(second_.mean, expected)) return 1;
  const double degrees = first_.degrees + second_.degrees;
  const double common = (first_squares + second_.squares) / degrees * (1 / first_.length + 1 / second_.length);
  const double alike = common > 0 ? student_two_sided(distance / std::sqrt(common), degrees) : 0;
  if (spread_ == Spread::kCommon) return alike;
  const double a = first_squares / first_.degrees / first_.length, b = second_.squares / second_.degrees / second_.length;
  if (a + b <= 0) return alike;
  const double welch = (a + b) * (a + b) / (a * a / first_.degrees + b * b / second_.degrees);
  return std::max(alike, student_two_sided(distance / std::sqrt(a + b), welch));
}

// Where the probability crosses the level.
double MeanChange::bound(double inside, double outside, double level) const noexcept {
  constexpr int kHalvings = 48;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (inside + outside) / 2;
    (probability(middle) > level ? inside : outside) = middle;
  }
  return inside;
}

Interval MeanChange::interval(double level) const noexcept {
  constexpr double kFarthest = 1e6;
  const double seen = second_.mean / first_.mean;
  const bool may_be_none = probability() > level;
  const double low_inside = may_be_none ? std::min(seen, 1.0) : seen, high_inside = may_be_none ? std::max(seen, 1.0) : seen;
  const double low_outside = !may_be_none && seen > 1 ? 1 : 0;
  double high_outside = !may_be_none && seen < 1 ? 1 : 2 * std::max(high_inside, 1e-6);
  while (probability(high_outside) > level && high_outside < kFarthest) high_outside *= 2;
  const auto percent = [](double ratio) { return 100 * (ratio - 1); };
  return {percent(probability(low_outside) > level ? low_outside : bound(low_inside, low_outside, level)),
          high_outside >= kFarthest ? std::numeric_limits<double>::infinity() : percent(bound(high_inside, high_outside, level))};
}

}  // namespace lanescope::analysis
