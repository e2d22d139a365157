#include "mean_change.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanescope::analysis {
namespace {

// Longer series are cut into about as many blocks: enough to tell the spread, and long enough that one says little about the next.
constexpr std::size_t kBlocks = 20;
constexpr double kMostAlike = 0.9;            // correlation of neighbours; more can't be told from a trend
constexpr std::size_t kAlikenesses = 10;      // correlations from 0 to there that are weighed
constexpr std::size_t kLeastPeriods = 6;      // that a series must have for blocks of them
constexpr std::size_t kMostSearched = 3'000;  // samples; a period is seen in them, and many items are searched

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

double mean_of(std::span<const double> series) noexcept {
  double mean = 0;
  for (const double sample : series) mean += sample / static_cast<double>(series.size());
  return mean;
}

// Sums of the products of what lies a lag apart, as distances from the mean, by lag from 1 to `longest`. O(samples x longest), and of a series
// that is zero for the most part, such as of what happens in few steps, O(k^2) of the k samples that are not.
std::vector<double> products_by_lag(std::span<const double> series, double mean, std::size_t longest) {
  struct Distance {
    std::size_t place = 0;
    double value = 0;
  };
  // From zero there, whose products vanish; what the mean is off by is made good below, and loses no digits: such a series spreads by its mean or more.
  const auto samples = static_cast<double>(series.size());
  const bool is_rare = 2 * static_cast<double>(std::count(series.begin(), series.end(), 0.0)) >= samples;
  std::vector<Distance> distances;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (const double value = series[i] - (is_rare ? 0 : mean); value != 0) distances.push_back({i, value});
  std::vector<double> products(longest + 1);
  for (std::size_t later = 0; later < distances.size(); ++later)
    for (std::size_t earlier = later; earlier-- > 0;) {
      const std::size_t lag = distances[later].place - distances[earlier].place;
      if (lag > longest) break;
      products[lag] += distances[later].value * distances[earlier].value;
    }
  if (!is_rare) return products;
  double ends = 0;  // sum of the first and the last `lag` samples
  for (std::size_t lag = 1; lag <= longest; ++lag) {
    ends += series[lag - 1] + series[series.size() - lag];
    products[lag] += mean * (ends - (samples + static_cast<double>(lag)) * mean);
  }
  return products;
}

}  // namespace

std::size_t period_of(std::span<const double> series) {
  series = series.first(std::min(series.size(), kMostSearched));
  const double mean = mean_of(series);
  double squares = 0;
  for (const double sample : series) squares += (sample - mean) * (sample - mean);
  if (squares == 0) return 1;
  const std::vector<double> products = products_by_lag(series, mean, series.size() / kLeastPeriods);
  const auto most = std::max_element(products.begin(), products.end());        // the shortest of those that are equal
  const double by_chance = 3 / std::sqrt(static_cast<double>(series.size()));  // three standard errors of a series without one
  return *most > std::max(0.5, by_chance) * squares ? static_cast<std::size_t>(most - products.begin()) : 1;
}

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

MeanChange::Side MeanChange::side_of(std::span<const double> series, std::size_t most_blocks, Order order) {
  const std::size_t period = order == Order::kInTime ? period_of(series) : 1;
  const std::size_t shortest = (series.size() + most_blocks - 1) / most_blocks;
  const std::size_t block_length = (shortest + period - 1) / period * period;
  const std::size_t blocks = series.size() / block_length;
  const std::size_t in_blocks = period > 1 ? blocks * block_length : series.size();
  Side side;
  side.blocks = static_cast<double>(blocks);
  side.mean = mean_of(series);
  if (period > 1) side.remainder = side.mean - mean_of(series.first(series.size() / period * period));
  const double center = mean_of(series.first(in_blocks));
  double before = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * in_blocks / blocks, end = (block + 1) * in_blocks / blocks;
    double distance = 0;
    for (std::size_t i = begin; i < end; ++i) distance += (series[i] - center) / static_cast<double>(end - begin);
    side.distances += distance * distance;
    if (block > 0 && block + 1 < blocks) side.interior += distance * distance;
    side.neighbours += before * distance;
    before = distance;
  }
  return side;
}

// Of a first-order autoregressive series (Hamilton, Time Series Analysis, 1994, section 5.2).
MeanChange::Alikeness::OfSide MeanChange::of_side(const Side& side, double alike) noexcept {
  const double spread = (side.distances - 2 * alike * side.neighbours + alike * alike * side.interior) / (1 - alike * alike);
  return {std::max(0.0, spread), effective_number(side.blocks, alike)};
}

// Few blocks tell little of how alike neighbours are, so no one correlation is chosen: each is weighed by its residual likelihood, of both
// sides together (Cooper and Thompson, Biometrika 64, 1977), and by how common it is (the more alike, the less, in proportion to the
// distance from 1).
MeanChange::MeanChange(const Side& first, const Side& second, Spread spread, double most_alike) : first_(first), second_(second), spread_(spread) {
  const auto relative = [](const Side& side, double sum) { return side.mean > 0 ? sum / (side.mean * side.mean) : sum; };
  const auto terms = [](const Side& side, double alike) {
    return -0.5 * (side.blocks - 1) * std::log1p(-alike * alike) - 0.5 * std::log((side.blocks - (side.blocks - 2) * alike) / (1 + alike));
  };
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < (most_alike > 0 ? kAlikenesses : 1); ++i) {
    const double alike = most_alike * (static_cast<double>(i) + 0.5) / kAlikenesses;
    Alikeness alikeness{0, of_side(first, alike), of_side(second, alike)};
    const double sum = relative(first, alikeness.first.spread) + relative(second, alikeness.second.spread);
    const double degrees = first.blocks + second.blocks - 2;
    if (sum > 0) alikeness.probability = terms(first, alike) + terms(second, alike) - 0.5 * degrees * std::log(sum) + std::log1p(-alike);
    most = std::max(most, alikeness.probability);
    alikenesses_.push_back(alikeness);
  }
  double sum = 0;
  for (Alikeness& each : alikenesses_) sum += each.probability = std::exp(each.probability - most);
  for (Alikeness& each : alikenesses_) each.probability /= sum;
}

MeanChange MeanChange::of_samples(std::span<const double> first, std::span<const double> second) {
  return {side_of(first, kBlocks, Order::kInTime), side_of(second, kBlocks, Order::kInTime), Spread::kOwn, kMostAlike};
}

MeanChange MeanChange::of_runs(std::span<const double> first, std::span<const double> second) {
  const bool many = std::min(first.size(), second.size()) >= kLeastSamples;
  return {side_of(first, first.size(), Order::kNone), side_of(second, second.size(), Order::kNone), many ? Spread::kOwn : Spread::kCommon, 0};
}

double MeanChange::probability(double ratio) const noexcept {
  constexpr double kRounding = 1e-12;
  const double expected = ratio * first_.mean;
  if (std::abs(second_.mean - expected) <= kRounding * std::max(second_.mean, expected)) return 1;
  double sum = 0;
  for (const Alikeness& each : alikenesses_) sum += each.probability * probability(ratio, each);
  return sum;
}

double MeanChange::probability(double ratio, const Alikeness& alikeness) const noexcept {
  const double distance = std::abs(second_.mean - ratio * first_.mean);
  const auto& [spread, effective] = alikeness.first;
  const double first_degrees = first_.blocks - 1, second_degrees = second_.blocks - 1, degrees = first_degrees + second_degrees;
  const double first_spread = ratio * ratio * spread, second_spread = alikeness.second.spread;
  const double first_remainder = ratio * ratio * first_.remainder * first_.remainder, second_remainder = second_.remainder * second_.remainder;
  const double common = (first_spread + second_spread) / degrees * (1 / effective + 1 / alikeness.second.effective) + first_remainder + second_remainder;
  const double alike = common > 0 ? student_two_sided(distance / std::sqrt(common), degrees) : 0;
  if (spread_ == Spread::kCommon) return alike;
  const double a = first_spread / first_degrees / effective + first_remainder,
               b = second_spread / second_degrees / alikeness.second.effective + second_remainder;
  if (a + b <= 0) return alike;
  const double welch = (a + b) * (a + b) / (a * a / first_degrees + b * b / second_degrees);
  return std::max(alike, student_two_sided(distance / std::sqrt(a + b), welch));
}

// Where the probability crosses the level.
double MeanChange::bound(double inside, double outside, double level) const noexcept {
  constexpr int kHalvings = 40;
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
