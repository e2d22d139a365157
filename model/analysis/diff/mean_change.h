// By how much the mean of one series of samples differs from that of another, and how likely a difference as large would be if nothing had
// changed. Holds for few samples, of unequal spread and number, for skewed ones, where neighbours resemble each other, where something comes
// each so many samples or seldom, and a short series holds none of it (docs/analysis.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lanescope::analysis {

// Percent of the first mean.
struct Interval {
  double low = 0;
  double high = 0;  // may be infinite
};

class MeanChange {
 public:
  static constexpr std::size_t kLeastSamples = 5;
  static constexpr std::size_t kLeastRuns = 3;  // both sides together

  // Of samples that follow each other in one run. Requires: kLeastSamples of each or more, none negative. O(samples), where one side has a period
  // that the other is too short for O(samples x period), and see period_of.
  [[nodiscard]] static MeanChange of_samples(std::span<const double> first, std::span<const double> second);
  // Of one value a run. Requires: kLeastRuns together or more, one of each or more, none negative. O(runs).
  [[nodiscard]] static MeanChange of_runs(std::span<const double> first, std::span<const double> second);

  // How likely the means would differ as much as they do, or more, if the second were in truth `ratio` times the first. O(1).
  [[nodiscard]] double probability(double ratio = 1) const;
  // The changes that have a probability above the level; holds the true one with probability 1 - level. Without a change among them where
  // probability() is at most the level. Requires: a first mean above zero, 0 < level < 1.
  [[nodiscard]] Interval interval(double level) const;

 private:
  // Sums over the blocks of a series.
  struct Spreads {
    double blocks = 0;
    double distances = 0;   // squares of the blocks' distances from the mean
    double interior = 0;    // the same without the first and the last block
    double neighbours = 0;  // products of the distances of blocks that adjoin
  };
  // Of a series that goes over between two speeds, and keeps each for some time: how long it did tells more than how many samples there are.
  struct Speeds {
    double stretches = 1;         // of one speed each
    double distances = 0;         // squares of the distances of their means from the mean of these
    double unevenness = 1;        // of independent stretches of one length, the variance of a mean by that of one of them
    double below = 0, above = 0;  // how far the speeds lie from the mean of the series
    [[nodiscard]] bool change() const noexcept { return stretches > 1; }
  };
  // A series in blocks of neighbours; of one that repeats itself, in blocks of whole periods.
  struct Side {
    double mean = 0;
    Spreads spreads;
    double remainder = 0;  // by how much the samples behind the last whole period move the mean
    // What parts of the other side, as long as this one, say of it: means of few samples may lie far apart and hold nothing that would show it.
    double part_spread = 0;        // standard deviation of their means
    double parts = 0;              // how many of them there are; 0 where too few, or this side is not much the shorter one
    double below = 0, above = 0;   // how far their means lie from the other side's mean, at the most
    bool may_lack_period = false;  // the other side repeats itself, and this one is too short to show whether it does
    Speeds speeds;
  };
  // Blocks of samples of both sides that belong together, as the same step has the same to do in every run.
  struct Pairs {
    std::vector<double> first, second;                 // distances of the blocks from the mean of what is paired
    double first_remainder = 0, second_remainder = 0;  // by how much what is not paired moves the means
    [[nodiscard]] bool any() const noexcept { return !first.empty(); }
  };
  // One possible correlation of neighbours: how likely it is, and what it says of the two means.
  struct Alikeness {
    struct OfSide {
      double spread = 0;     // sum of squares, as of independent blocks
      double effective = 0;  // independent blocks that tell as much of the mean
    };
    double value = 0;
    double probability = 1;
    OfSide first, second;  // unless blocks are paired
  };
  enum class Spread { kOwn, kCommon };  // whether each side's spread is estimated by itself, too
  enum class Order { kNone, kInTime };
  MeanChange(const Side& first, const Side& second, Pairs pairs, Spread spread, double most_alike);
  static Spreads spreads_of(std::span<const double> distances) noexcept;
  static Side side_of(std::span<const double> series, std::size_t most_blocks, std::size_t period);
  static void compare_with_parts(Side& side, std::span<const double> series, std::span<const double> other, std::size_t other_period);
  static Pairs pairs_of(std::span<const double> first, std::span<const double> second, std::size_t first_period, std::size_t second_period);
  static Alikeness::OfSide of_side(const Spreads& spreads, double alike) noexcept;
  static Speeds speeds_of(std::span<const double> series);
  // The same, where a side goes over between two speeds, by the stretches of one speed.
  [[nodiscard]] double probability_by_speeds(double ratio) const;
  [[nodiscard]] double probability_of_steps(double ratio) const;
  void weigh_alikenesses(std::span<const Spreads> relative, double most_alike);
  [[nodiscard]] Spreads spreads_of_pairs(double ratio) const;
  // How likely the means would differ by so much.
  [[nodiscard]] double probability_of(double distance, double ratio) const;
  [[nodiscard]] double probability_of(double distance, double ratio, const Alikeness& alikeness) const noexcept;
  [[nodiscard]] double bound(double inside, double outside, double level) const;

  Side first_, second_;
  Pairs pairs_;
  Spread spread_;
  std::vector<Alikeness> alikenesses_;  // their probabilities sum to 1
};

// The level for each of several probabilities, so that of those at or below it, which are called changes, the given part is expected to be
// chance; and where nothing changed, that there is any (Benjamini and Hochberg 1995). Intervals of that level miss as seldom
// (Benjamini and Yekutieli 2005). O(n log n).
[[nodiscard]] double discovery_level(std::vector<double> probabilities, double false_discoveries);

// After how many samples a series repeats itself, such as where each tenth step writes a log; 1 where it does not. Two rare events make no
// period, nor do less than six of its length. Of what begins a long series. O(samples^2) at most, O(samples) where all but a few are zero.
[[nodiscard]] std::size_t period_of(std::span<const double> series);

// How many samples at the beginning of a series warm up: they lie above the border between two levels (Otsu 1979) that hold four fifths of the spread between
// them, and none that follows does; then the same of the rest. At most a fourth of all, and no more than leave MeanChange::kLeastSamples. Of what begins a long
// series. O(k n log n), k of them.
[[nodiscard]] std::size_t transient_of(std::span<const double> series);

// Of Student's t, that it lies at least this far from zero. `degrees` of freedom need not be whole.
[[nodiscard]] double student_two_sided(double t, double degrees) noexcept;

// Of Fisher's F, that it is at least as large: of two variances with so many degrees of freedom, the first by the second.
[[nodiscard]] double fisher_above(double f, double first_degrees, double second_degrees) noexcept;

// How many independent ones tell as much of their mean as so many blocks of which neighbours correlate so (Bayley and Hammersley 1946).
[[nodiscard]] double effective_number(double blocks, double alike) noexcept;

}  // namespace lanescope::analysis
