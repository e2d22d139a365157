#include "mean_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace lanescope::analysis {
namespace {

// Longer series are cut into about this many blocks: enough to estimate the spread, and long enough that a block says little about the next.
constexpr std::size_t kBlocks = 20;
constexpr double kMostAlike = 0.9;            // correlation of neighbours; a higher one can't be told from a trend
constexpr std::size_t kAlikenesses = 10;      // number of correlations from 0 to kMostAlike that are weighed
constexpr std::size_t kLeastPeriods = 6;      // that a series must have for blocks of periods
constexpr std::size_t kLeastParts = 5;        // parts of a series, as long as the other, needed to estimate how means of so few samples spread
constexpr std::ptrdiff_t kMostShift = 8;      // by how many steps the starts of two runs may differ; warm-up is found in each separately
constexpr double kLeastApart = 0.8;           // share of the spread that lies between two speeds; for normally distributed samples of one speed it is 0.64
constexpr double kFarApart = 0.95;            // the same if the speed changes once: few samples can't show that this is not chance
constexpr double kLeastKept = 3;              // samples of each speed in that case: one sample at the start or the end is not a speed
constexpr double kManyStretches = 8;          // of one speed: this many spread like blocks of samples
constexpr double kFewStretches = 2.5;         // standard deviations below the number of stretches expected by chance
constexpr std::size_t kMostSearched = 3'000;  // samples that are searched for a period: it is visible in them, and many items are searched

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method.
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

double mean_of(std::span<const double> series) noexcept {
  double mean = 0;
  for (const double sample : series)
    if (sample != 0) mean += sample / static_cast<double>(series.size());  // a division takes long, and most samples may be zero
  return mean;
}

// Sums of products of samples that are a lag apart, as distances from the mean, by lag from 1 to `longest`. O(samples x longest). For a series that is
// mostly zero, for example of something that happens in few steps, it is O(k^2) in the k samples that are not zero.
std::vector<double> products_by_lag(std::span<const double> series, double mean, std::size_t longest) {
  struct Distance {
    std::size_t place = 0;
    double value = 0;
  };
  // For such a series distances are taken from zero, because products with zero vanish. The deviation from the mean is corrected below. This loses no
  // digits, because such a series spreads by its mean or more.
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

// The distances of the means of blocks from the mean of their samples. There are more than `most` / 2 blocks, of whole periods.
std::vector<double> block_distances(std::span<const double> series, std::size_t most, std::size_t period) {
  const std::size_t shortest = (series.size() + most - 1) / most;
  const std::size_t block_length = (shortest + period - 1) / period * period;
  const std::size_t blocks = series.size() / block_length;
  const std::size_t in_blocks = period > 1 ? blocks * block_length : series.size();
  const double center = mean_of(series.first(in_blocks));
  std::vector<double> distances(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * in_blocks / blocks, end = (block + 1) * in_blocks / blocks;
    for (std::size_t i = begin; i < end; ++i) distances[block] += (series[i] - center) / static_cast<double>(end - begin);
  }
  return distances;
}

// The overlapping part of two series, by its start in each.
struct Overlap {
  std::size_t first = 0, second = 0, length = 0;
};
Overlap overlap_of(std::ptrdiff_t first, std::ptrdiff_t second, std::ptrdiff_t shift) noexcept {
  const std::ptrdiff_t in_first = std::max<std::ptrdiff_t>(0, -shift), in_second = std::max<std::ptrdiff_t>(0, shift);
  const std::ptrdiff_t length = std::max<std::ptrdiff_t>(0, std::min(first - in_first, second - in_second));
  return {static_cast<std::size_t>(in_first), static_cast<std::size_t>(in_second), static_cast<std::size_t>(length)};
}

// The differences between successive samples of a series, without those that are zero.
class StepsOfSeries {
 public:
  explicit StepsOfSeries(std::span<const double> series) : series_(series) {
    for (std::size_t i = 1; i < series.size(); ++i)
      if (series[i] != series[i - 1]) places_.push_back(i);
  }
  [[nodiscard]] double at(std::size_t i) const noexcept { return series_[i] - series_[i - 1]; }
  // Positions in [begin, end) at which there is one.
  [[nodiscard]] std::span<const std::size_t> within(std::size_t begin, std::size_t end) const noexcept {
    const auto first = std::lower_bound(places_.begin(), places_.end(), begin);
    return {first, std::lower_bound(first, places_.end(), end)};
  }

 private:
  std::span<const double> series_;
  std::vector<std::size_t> places_;
};

// The border that divides samples into two levels best: with most of their spread between the levels (Otsu 1979).
struct Levels {
  double border = 0;
  double above = 0;         // number of samples above it
  double below_border = 0;  // sum of the distances from the mean of the samples below it
  double share = 0;         // share of the sum of squares that lies between the levels; 0 if all samples are equal
};
Levels levels_of(std::span<const double> series) {
  std::vector<double> sorted;  // without zeros, which come first and may be the majority
  std::copy_if(series.begin(), series.end(), std::back_inserter(sorted), [](double sample) { return sample != 0; });
  std::sort(sorted.begin(), sorted.end());
  const double mean = mean_of(series);
  const auto n = static_cast<double>(series.size()), zeros = n - static_cast<double>(sorted.size());
  double squares = zeros * mean * mean, below = -zeros * mean, most = 0;
  Levels levels;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double left = zeros + static_cast<double>(i), last = i == 0 ? 0 : sorted[i - 1];
    if (left > 0 && sorted[i] != last) {
      const double between = below * below / left + below * below / (n - left);
      if (between > most) {
        most = between;
        levels = {(last + sorted[i]) / 2, n - left, below, 0};
      }
    }
    below += sorted[i] - mean;
    squares += (sorted[i] - mean) * (sorted[i] - mean);
  }
  if (squares > 0) levels.share = most / squares;
  return levels;
}

// Steps are correlated, so that a common drift makes no pairs. O(steps of both that are not zero): an item that happens in few samples has few, and
// many items are compared.
double correlation_of_steps(const StepsOfSeries& first, const StepsOfSeries& second, const Overlap& overlap) noexcept {
  if (overlap.length == 0) return 0;
  double products = 0, first_squares = 0, second_squares = 0;
  for (const std::size_t i : first.within(overlap.first + 1, overlap.first + overlap.length)) {
    const double a = first.at(i);
    products += a * second.at(i - overlap.first + overlap.second);
    first_squares += a * a;
  }
  for (const std::size_t i : second.within(overlap.second + 1, overlap.second + overlap.length)) second_squares += second.at(i) * second.at(i);
  return first_squares > 0 && second_squares > 0 ? products / std::sqrt(first_squares) / std::sqrt(second_squares) : 0;
}

}  // namespace

std::size_t period_of(std::span<const double> series) {
  series = series.first(std::min(series.size(), kMostSearched));
  const double mean = mean_of(series);
  double squares = 0;
  for (const double sample : series) squares += (sample - mean) * (sample - mean);
  if (squares == 0) return 1;
  const std::vector<double> products = products_by_lag(series, mean, series.size() / kLeastPeriods);
  const auto most = std::max_element(products.begin(), products.end());        // the shortest of equal ones
  const double by_chance = 3 / std::sqrt(static_cast<double>(series.size()));  // three standard errors of a series without a period
  return *most > std::max(0.5, by_chance) * squares ? static_cast<std::size_t>(most - products.begin()) : 1;
}

double fisher_above(double f, double first_degrees, double second_degrees) noexcept {
  return incomplete_beta(second_degrees / 2, first_degrees / 2, second_degrees / (second_degrees + first_degrees * f));
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

MeanChange::Spreads MeanChange::spreads_of(std::span<const double> distances) noexcept {
  Spreads spreads{.blocks = static_cast<double>(distances.size())};
  for (std::size_t block = 0; block < distances.size(); ++block) {
    const double square = distances[block] * distances[block];
    spreads.distances += square;
    spreads.neighbours += distances[block > 0 ? block - 1 : distances.size() - 1] * distances[block];
  }
  return spreads;
}

MeanChange::Side MeanChange::side_of(std::span<const double> series, std::size_t most_blocks, std::size_t period) {
  Side side;
  side.mean = mean_of(series);
  if (period > 1) side.remainder = side.mean - mean_of(series.first(series.size() / period * period));
  side.spreads = spreads_of(block_distances(series, most_blocks, period));
  return side;
}

void MeanChange::compare_with_parts(Side& side, std::span<const double> series, std::span<const double> other, std::size_t other_period) {
  const std::size_t samples = series.size();
  side.may_lack_period = other_period > 1 && samples < kLeastPeriods * other_period && samples < other.size();
  const bool are_many = other.size() >= kLeastParts * samples;
  if (!side.may_lack_period && !are_many) return;
  if (are_many) side.parts = static_cast<double>(other.size()) / static_cast<double>(samples);
  const double mean = mean_of(other);
  double distance = 0, squares = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    distance += (other[i] - mean) / static_cast<double>(samples);
    if (i >= samples) distance -= (other[i - samples] - mean) / static_cast<double>(samples);
    if (i + 1 < samples) continue;
    squares += distance * distance;
    side.below = std::max(side.below, -distance);
    side.above = std::max(side.above, distance);
  }
  side.part_spread = std::sqrt(squares / static_cast<double>(other.size() - samples + 1));
}

// Pairs are searched at all shifts with which nearly all of both series overlap. If one may lack the period of the other, all shifts within a period
// are tried.
MeanChange::Pairs MeanChange::pairs_of(std::span<const double> first, std::span<const double> second, std::size_t first_period, std::size_t second_period) {
  if (first_period > 1 && second_period > 1 && first_period != second_period) return {};
  const auto n = static_cast<std::ptrdiff_t>(first.size()), m = static_cast<std::ptrdiff_t>(second.size());
  const auto period = static_cast<std::ptrdiff_t>(std::max(first_period, second_period));
  const bool is_part = period > 1 && std::min(n, m) < static_cast<std::ptrdiff_t>(kLeastPeriods) * period;
  // The positions in the second series at which the first one starts.
  std::ptrdiff_t from = -kMostShift, to = kMostShift;
  if (is_part && n < m) from = 0, to = std::min(period - 1, m - n);
  if (is_part && n >= m) from = -std::min(period - 1, n - m), to = 0;
  double most = 0;
  Overlap best;
  const StepsOfSeries first_steps(first), second_steps(second);
  for (std::ptrdiff_t shift = from; shift <= to; ++shift) {
    const Overlap overlap = overlap_of(n, m, shift);
    const bool is_most_of_it = 10 * static_cast<std::ptrdiff_t>(overlap.length) >= 9 * (is_part ? std::min(n, m) : std::max(n, m));
    if (overlap.length < kLeastSamples || !is_most_of_it) continue;
    const double alike = correlation_of_steps(first_steps, second_steps, overlap);
    if (alike <= most) continue;
    most = alike;
    best = overlap;
  }
  if (most <= std::max(0.5, 4 / std::sqrt(static_cast<double>(best.length)))) return {};
  const std::span<const double> before = first.subspan(best.first, best.length), after = second.subspan(best.second, best.length);
  std::vector<double> differences(best.length);
  for (std::size_t i = 0; i < best.length; ++i) differences[i] = after[i] - before[i];
  const std::size_t left = period_of(differences);  // period of what repeats itself and differs between the two
  Pairs pairs{block_distances(before, kBlocks, left), block_distances(after, kBlocks, left)};
  if (is_part) return pairs;  // how far a part's mean may lie from that of all is estimated from the parts
  pairs.first_remainder = mean_of(first) - mean_of(before);
  pairs.second_remainder = mean_of(second) - mean_of(after);
  return pairs;
}

// Two speeds are recognized by the border that divides the samples best, if little of their spread is left on its sides. Each is kept for some time if
// there are few stretches on one side of it (Wald and Wolfowitz 1940).
MeanChange::Speeds MeanChange::speeds_of(std::span<const double> series) {
  series = series.first(std::min(series.size(), kMostSearched));
  const Levels levels = levels_of(series);
  if (levels.share < kLeastApart) return {};
  const double mean = mean_of(series), border = levels.border, slower = levels.above;
  const auto n = static_cast<double>(series.size());
  double stretches = 1;
  for (std::size_t i = 1; i < series.size(); ++i)
    if ((series[i] > border) != (series[i - 1] > border)) ++stretches;
  const double twice = 2 * slower * (n - slower), expected = 1 + twice / n, variance = twice * (twice - n) / (n * n * (n - 1));
  if (std::min(slower, n - slower) < 2) return {};  // one odd sample is no speed, wherever it lies
  const bool once = stretches == 2 && std::min(slower, n - slower) >= kLeastKept && levels.share >= kFarApart;
  if (!once && (stretches + 0.5 - expected) > -kFewStretches * std::sqrt(variance)) return {};
  const double fast = mean + levels.below_border / (n - slower);
  Speeds speeds{stretches, 0, 0, mean - fast, (mean - fast) * (n - slower) / slower};
  std::vector<double> means;
  for (std::size_t begin = 0, i = 1; i <= series.size(); ++i) {
    if (i < series.size() && (series[i] > border) == (series[i - 1] > border)) continue;
    const auto length = static_cast<double>(i - begin);
    means.push_back(mean_of(series.subspan(begin, i - begin)));
    speeds.unevenness += length * length / (n * n);
    begin = i;
  }
  const double center = mean_of(means);
  for (const double each : means) speeds.distances += (each - center) * (each - center);
  return speeds;
}

// For a first-order autoregressive series (Hamilton, Time Series Analysis, 1994, section 5.2). There the first and the last block have one neighbour
// each, so an odd one of them would say nothing against any alikeness. The blocks are therefore taken as a ring, and the sum is the mean of those of
// all series that result if the ring is cut at one place.
MeanChange::Alikeness::OfSide MeanChange::of_side(const Spreads& spreads, double alike) noexcept {
  const double interior = (spreads.blocks - 2) / spreads.blocks * spreads.distances, neighbours = (spreads.blocks - 1) / spreads.blocks * spreads.neighbours;
  const double spread = (spreads.distances - 2 * alike * neighbours + alike * alike * interior) / (1 - alike * alike);
  return {std::max(0.0, spread), effective_number(spreads.blocks, alike)};
}

// For the second side minus `ratio` times the first.
MeanChange::Spreads MeanChange::spreads_of_pairs(double ratio) const {
  std::vector<double> distances = pairs_.second;
  for (std::size_t block = 0; block < distances.size(); ++block) distances[block] -= ratio * pairs_.first[block];
  return spreads_of(distances);
}

MeanChange::MeanChange(const Side& first, const Side& second, Pairs pairs, Spread spread, double most_alike)
    : first_(first), second_(second), pairs_(std::move(pairs)), spread_(spread) {
  const auto relative = [](Spreads spreads, double mean) {
    const double scale = mean > 0 ? 1 / (mean * mean) : 1;
    return Spreads{spreads.blocks, spreads.distances * scale, spreads.neighbours * scale};
  };
  if (pairs_.any()) {
    weigh_alikenesses(std::array{spreads_of_pairs(second.mean / first.mean)}, most_alike);
    return;
  }
  weigh_alikenesses(std::array{relative(first.spreads, first.mean), relative(second.spreads, second.mean)}, most_alike);
  for (Alikeness& each : alikenesses_) {
    each.first = of_side(first.spreads, each.value);
    each.second = of_side(second.spreads, each.value);
  }
}

// Few blocks say little about how alike neighbours are, so no single correlation is chosen. Each is weighed by its residual likelihood, of both sides
// together (Cooper and Thompson, Biometrika 64, 1977), and by a prior that is proportional to its distance from 1: the more alike, the less common.
void MeanChange::weigh_alikenesses(std::span<const Spreads> relative, double most_alike) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < (most_alike > 0 ? kAlikenesses : 1); ++i) {
    const double alike = most_alike * (static_cast<double>(i) + 0.5) / kAlikenesses;
    double sum = 0, degrees = 0, terms = 0;
    for (const Spreads& side : relative) {
      sum += of_side(side, alike).spread;
      degrees += side.blocks - 1;
      terms += -0.5 * (side.blocks - 1) * std::log1p(-alike * alike) - 0.5 * std::log((side.blocks - (side.blocks - 2) * alike) / (1 + alike));
    }
    Alikeness alikeness{.value = alike, .probability = 0, .first = {}, .second = {}};
    if (sum > 0) alikeness.probability = terms - 0.5 * degrees * std::log(sum) + std::log1p(-alike);
    most = std::max(most, alikeness.probability);
    alikenesses_.push_back(alikeness);
  }
  double sum = 0;
  for (Alikeness& each : alikenesses_) sum += each.probability = std::exp(each.probability - most);
  for (Alikeness& each : alikenesses_) each.probability /= sum;
}

MeanChange MeanChange::of_samples(std::span<const double> first, std::span<const double> second) {
  const std::size_t first_period = period_of(first), second_period = period_of(second);
  Side before = side_of(first, kBlocks, first_period), after = side_of(second, kBlocks, second_period);
  compare_with_parts(before, first, second, second_period);
  compare_with_parts(after, second, first, first_period);
  Pairs pairs = pairs_of(first, second, first_period, second_period);
  if (first_period == 1 && second_period == 1 && !pairs.any()) {
    before.speeds = speeds_of(first);
    after.speeds = speeds_of(second);
  }
  return {before, after, std::move(pairs), Spread::kOwn, kMostAlike};
}

MeanChange MeanChange::of_runs(std::span<const double> first, std::span<const double> second) {
  const bool many = std::min(first.size(), second.size()) >= kLeastSamples;
  return {side_of(first, first.size(), 1), side_of(second, second.size(), 1), {}, many ? Spread::kOwn : Spread::kCommon, 0};
}

double MeanChange::probability(double ratio) const { return std::max(probability_of_steps(ratio), probability_by_speeds(ratio)); }

// A side that shows both speeds in few stretches might as well have shown them for longer or shorter, and the other side only one of them. A difference
// beyond the speeds, or beyond the differences between stretches, can't be explained by that.
double MeanChange::probability_by_speeds(double ratio) const {
  const Speeds &first = first_.speeds, &second = second_.speeds;
  const bool are_few = std::min(first.stretches, second.stretches) < kManyStretches;
  if (!are_few || (!first.change() && !second.change())) return 0;
  const double difference = second_.mean - ratio * first_.mean, distance = std::abs(difference);
  const double by_choice = difference < 0 ? ratio * first.below + second.above : ratio * first.above + second.below;
  const double beyond = probability_of(std::max(0.0, distance - by_choice), ratio);
  const double degrees = first.stretches + second.stretches - 2;
  const double variance = (ratio * ratio * first.distances + second.distances) / degrees;
  if (variance <= 0) return beyond;
  return std::min(beyond, student_two_sided(distance / std::sqrt(variance * (first.unevenness + second.unevenness)), degrees));
}

double MeanChange::probability_of_steps(double ratio) const {
  constexpr double kRounding = 1e-12;
  const double expected = ratio * first_.mean, difference = second_.mean - expected, distance = std::abs(difference);
  if (distance <= kRounding * std::max(second_.mean, expected)) return 1;
  // The largest difference in this direction that can be explained by the choice of a part for the shorter side.
  const double by_part = difference < 0 ? first_.above + ratio * second_.below : first_.below + ratio * second_.above;
  const double beyond = by_part > 0 ? probability_of(std::max(0.0, distance - by_part), ratio) : 0;
  if (first_.may_lack_period || second_.may_lack_period) return beyond;
  const double seen = probability_of(distance, ratio);
  if (first_.parts == 0 && second_.parts == 0) return seen;
  const auto error = [](const Side& side) { return side.spreads.distances / (side.spreads.blocks - 1) / side.spreads.blocks; };
  const double square =
      first_.parts > 0 ? first_.part_spread * first_.part_spread + error(second_) : ratio * ratio * (error(first_) + second_.part_spread * second_.part_spread);
  // Overlapping parts say half as much again about the spread of their means as adjoining parts (Meketon and Schmeiser, Overlapping batch means, 1984).
  const double degrees = 1.5 * (std::max(first_.parts, second_.parts) - 1);
  const double of_parts = square > 0 ? student_two_sided(distance / std::sqrt(square), degrees) : 0;
  return std::max(seen, std::min(of_parts, beyond));
}

double MeanChange::probability_of(double distance, double ratio) const {
  double sum = 0;
  if (!pairs_.any()) {
    for (const Alikeness& each : alikenesses_) sum += each.probability * probability_of(distance, ratio, each);
    return sum;
  }
  const Spreads spreads = spreads_of_pairs(ratio);
  const double remainder = ratio * ratio * pairs_.first_remainder * pairs_.first_remainder + pairs_.second_remainder * pairs_.second_remainder;
  for (const Alikeness& each : alikenesses_) {
    const auto& [spread, effective] = of_side(spreads, each.value);
    const double square = spread / (spreads.blocks - 1) / effective + remainder;
    sum += each.probability * (square > 0 ? student_two_sided(distance / std::sqrt(square), spreads.blocks - 1) : distance > 0 ? 0 : 1);
  }
  return sum;
}

double MeanChange::probability_of(double distance, double ratio, const Alikeness& alikeness) const noexcept {
  const auto& [spread, effective] = alikeness.first;
  const double first_degrees = first_.spreads.blocks - 1, second_degrees = second_.spreads.blocks - 1, degrees = first_degrees + second_degrees;
  const double first_spread = ratio * ratio * spread, second_spread = alikeness.second.spread;
  const double first_remainder = ratio * ratio * first_.remainder * first_.remainder, second_remainder = second_.remainder * second_.remainder;
  const double common = (first_spread + second_spread) / degrees * (1 / effective + 1 / alikeness.second.effective) + first_remainder + second_remainder;
  const double alike = common > 0 ? student_two_sided(distance / std::sqrt(common), degrees) : distance > 0 ? 0 : 1;
  if (spread_ == Spread::kCommon) return alike;
  const double a = first_spread / first_degrees / effective + first_remainder,
               b = second_spread / second_degrees / alikeness.second.effective + second_remainder;
  if (a + b <= 0) return alike;
  const double welch = (a + b) * (a + b) / (a * a / first_degrees + b * b / second_degrees);
  return std::max(alike, student_two_sided(distance / std::sqrt(a + b), welch));
}

// The ratio at which the probability crosses the level.
double MeanChange::bound(double inside, double outside, double level) const {
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (inside + outside) / 2;
    (probability(middle) > level ? inside : outside) = middle;
  }
  return inside;
}

Interval MeanChange::interval(double level) const {
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

double effective_number(double blocks, double alike) noexcept {
  double sum = 1, power = 1;
  for (double k = 1; k < blocks; ++k) {
    power *= alike;
    sum += 2 * (1 - k / blocks) * power;
  }
  return blocks / sum;
}

std::size_t transient_of(std::span<const double> series) {
  series = series.first(std::min(series.size(), kMostSearched));
  const std::size_t most = std::min(series.size() / 4, series.size() - std::min(series.size(), MeanChange::kLeastSamples));
  std::size_t all = 0;
  while (all < most) {
    const std::span<const double> rest = series.subspan(all);
    const Levels levels = levels_of(rest);
    const auto is_above = [&](double sample) { return sample > levels.border; };
    const auto behind = std::find_if_not(rest.begin(), rest.end(), is_above);
    const auto slower = static_cast<std::size_t>(behind - rest.begin());
    if (levels.share < kLeastApart || slower == 0 || all + slower > most || std::any_of(behind, rest.end(), is_above)) break;
    all += slower;
  }
  return all;
}

}  // namespace lanescope::analysis
