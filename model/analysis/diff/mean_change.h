// By how much the mean of one series of samples differs from that of another, and the probability of a difference as large if nothing had changed.
// Valid for few samples, for samples of unequal spread and number, for skewed samples, if neighbours resemble each other, if something occurs each so
// many samples or rarely, and if a short series contains none of it (docs/analysis.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lanescope::analysis {

// Change in percent of the first mean.
struct Interval {
  double low = 0;
  double high = 0;  // may be infinite
};

class MeanChange {
 public:
  static constexpr std::size_t kLeastSamples = 5;
  static constexpr std::size_t kLeastRuns = 3;  // both sides together

  // From consecutive samples of one run. Requires: kLeastSamples or more of each, none negative. O(samples); O(samples x period) if one side has a
  // period for which the other is too short; and see period_of.
  [[nodiscard]] static MeanChange of_samples(std::span<const double> first, std::span<const double> second);
  // From one value a run. Requires: kLeastRuns or more together, one or more of each, none negative. O(runs).
  [[nodiscard]] static MeanChange of_runs(std::span<const double> first, std::span<const double> second);

  // The probability that the means differ as much as they do, or more, if the second were in truth `ratio` times the first. O(1).
  [[nodiscard]] double probability(double ratio = 1) const;
  // The changes whose probability is above the level; it contains the true change with probability 1 - level. It does not contain zero if probability()
  // is at most the level. Requires: a first mean above zero, 0 < level < 1.
  [[nodiscard]] Interval interval(double level) const;

 private:
  // Sums over the blocks of a series.
  struct Spreads {
    double blocks = 0;
    double distances = 0;   // sum of squares of the blocks' distances from the mean
    double neighbours = 0;  // sum of products of the distances of adjoining blocks; the last one adjoins the first
  };
  // For a series that alternates between two speeds, and keeps each for some time: the number of such stretches determines how much it tells, not the
  // number of samples.
  struct Speeds {
    double stretches = 1;         // number of stretches, each of one speed
    double distances = 0;         // sum of squares of the distances of their means from the mean of these means
    double unevenness = 1;        // variance of the mean divided by that of the mean of one stretch, for independent stretches
    double below = 0, above = 0;  // how far the speeds lie from the mean of the series
    [[nodiscard]] bool change() const noexcept { return stretches > 1; }
  };
  // A series in blocks of neighbours; if it repeats itself, in blocks of whole periods.
  struct Side {
    double mean = 0;
    Spreads spreads;
    double remainder = 0;  // by how much the samples after the last whole period move the mean
    // Comparison with parts of the other side that are as long as this side: means of few samples may lie far apart although the samples do not show
    // it.
    double part_spread = 0;        // standard deviation of their means
    double parts = 0;              // number of parts; 0 if too few, or if this side is not much the shorter one
    double below = 0, above = 0;   // the largest distance of their means from the other side's mean
    bool may_lack_period = false;  // the other side repeats itself, and this side is too short to show whether it does
    Speeds speeds;
  };
  // Blocks of samples of both sides that belong together, because the same step has the same work in every run.
  struct Pairs {
    std::vector<double> first, second;                 // distances of the blocks from the mean of the paired samples
    double first_remainder = 0, second_remainder = 0;  // by how much the samples that are not paired move the means
    [[nodiscard]] bool any() const noexcept { return !first.empty(); }
  };
  // One possible correlation of neighbours: its probability, and what follows from it for the two means.
  struct Alikeness {
    struct OfSide {
      double spread = 0;     // sum of squares, as for independent blocks
      double effective = 0;  // number of independent blocks that would say as much about the mean
    };
    double value = 0;
    double probability = 1;
    OfSide first, second;  // not used if blocks are paired
  };
  enum class Spread { kOwn, kCommon };  // kOwn: each side's spread is also estimated separately
  enum class Order { kNone, kInTime };
  MeanChange(const Side& first, const Side& second, Pairs pairs, Spread spread, double most_alike);
  static Spreads spreads_of(std::span<const double> distances) noexcept;
  static Side side_of(std::span<const double> series, std::size_t most_blocks, std::size_t period);
  static void compare_with_parts(Side& side, std::span<const double> series, std::span<const double> other, std::size_t other_period);
  static Pairs pairs_of(std::span<const double> first, std::span<const double> second, std::size_t first_period, std::size_t second_period);
  static Alikeness::OfSide of_side(const Spreads& spreads, double alike) noexcept;
  static Speeds speeds_of(std::span<const double> series);
  // The same for sides that alternate between two speeds, based on the stretches of one speed.
  [[nodiscard]] double probability_by_speeds(double ratio) const;
  [[nodiscard]] double probability_of_steps(double ratio) const;
  void weigh_alikenesses(std::span<const Spreads> relative, double most_alike);
  [[nodiscard]] Spreads spreads_of_pairs(double ratio) const;
  // The probability that the means differ by this much.
  [[nodiscard]] double probability_of(double distance, double ratio) const;
  [[nodiscard]] double probability_of(double distance, double ratio, const Alikeness& alikeness) const noexcept;
  [[nodiscard]] double bound(double inside, double outside, double level) const;

  Side first_, second_;
  Pairs pairs_;
  Spread spread_;
  std::vector<Alikeness> alikenesses_;  // their probabilities sum to 1
};

// The level for several probabilities. Of the probabilities at or below it, which are called changes, the given fraction is expected to be chance; if
// nothing changed, it is the probability that there is any (Benjamini and Hochberg 1995). Intervals of that level miss as rarely (Benjamini and
// Yekutieli 2005). O(n log n).
[[nodiscard]] double discovery_level(std::vector<double> probabilities, double false_discoveries);

// The number of samples after which a series repeats itself, for example because each tenth step writes a log; 1 if it does not. Two rare events are
// not a period, and a series of fewer than six periods has none. Only the start of a long series is searched. O(samples^2) at most, O(samples) if all
// but a few samples are zero.
[[nodiscard]] std::size_t period_of(std::span<const double> series);

// The number of samples at the start of a series that warm up. They lie above the border between two levels (Otsu 1979) between which four fifths of
// the spread lie, and no later sample does; then the same is applied to the rest. At most a fourth of all, and such that MeanChange::kLeastSamples are
// left. Only the start of a long series is searched. O(k n log n) for k such samples.
[[nodiscard]] std::size_t transient_of(std::span<const double> series);

// The probability that Student's t lies at least this far from zero. `degrees` of freedom need not be an integer.
[[nodiscard]] double student_two_sided(double t, double degrees) noexcept;

// The probability that Fisher's F is at least this large: the ratio of two variances with these degrees of freedom, the first divided by the second.
[[nodiscard]] double fisher_above(double f, double first_degrees, double second_degrees) noexcept;

// The number of independent blocks that would say as much about the mean as this many blocks whose neighbours have this correlation (Bayley and
// Hammersley 1946).
[[nodiscard]] double effective_number(double blocks, double alike) noexcept;

}  // namespace lanescope::analysis
