// Changes of means: chance is reported as a change no more often than promised, whatever its shape, and the interval holds the true value.
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "diff/mean_change.h"
#include "equal_runs.h"
#include "model/analysis/diff/trace_diff.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using lanescope::test::EqualRun;
using lanescope::test::Noise;

namespace {

// An upper bound for how many of `tries` happen with the given probability; it is exceeded in about one case in ten thousand.
std::size_t at_most(double probability, std::size_t tries) {
  const double expected = probability * static_cast<double>(tries);
  return static_cast<std::size_t>(std::ceil(expected + 4 * std::sqrt(expected) + 1));
}

// By definition: the lag at which the products of distances from the mean have the greatest sum, if that sum is at least half of their squares and beyond
// chance.
std::size_t period_by_brute_force(const std::vector<double>& series) {
  const auto samples = static_cast<double>(series.size());
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / samples;
  const auto products = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < series.size(); ++i) sum += (series[i] - mean) * (series[i - lag] - mean);
    return sum;
  };
  std::size_t period = 1;
  double most = 0;
  for (std::size_t lag = 1; lag <= series.size() / 6; ++lag)
    if (const double sum = products(lag); sum > most) {
      most = sum;
      period = lag;
    }
  return most > std::max(0.5, 3 / std::sqrt(samples)) * products(0) ? period : 1;
}

bool says_change(const TraceDiff& diff) {
  return std::any_of(diff.items.begin(), diff.items.end(),
                     [](const DiffItem& item) { return item.verdict != DiffVerdict::kSame && item.verdict != DiffVerdict::kUnsure; });
}

}  // namespace

TEST_CASE("what is slower at the beginning of a series is its transient, as far as nothing behind it is") {
  const auto series = [](std::vector<double> first, double last = 1) {
    for (int i = 0; i < 40; ++i) first.push_back(1 + 0.01 * (i % 3));
    first.push_back(last);
    return first;
  };
  CHECK(transient_of(series({})) == 0);
  CHECK(transient_of(series({1.4, 1.3})) == 2);
  CHECK(transient_of(series({2.0, 1.3, 1.3})) == 3);   // the first value would hide it
  CHECK(transient_of(series({1.4, 1.3}, 1.35)) == 0);  // the value comes again
  CHECK(transient_of(series({1, 1.4, 1.3})) == 0);
  CHECK(transient_of(series(std::vector<double>(20, 1.3))) == 0);  // a third of all samples is a speed of its own
  CHECK(transient_of(std::vector<double>{9, 1, 1, 1, 1}) == 0);    // none of five samples can be spared
  CHECK(transient_of(std::vector<double>{9, 1, 1, 1, 1, 1}) == 1);
  CHECK(transient_of(std::vector<double>{}) == 0);
}

TEST_CASE("Student's t has the probabilities of its closed forms and of tables") {
  for (const double t : {0.1, 1.0, 3.0, 12.0, 63.657, 1'000.0}) {
    INFO(t);
    CHECK(student_two_sided(t, 1) == Approx(1 - 2 / std::numbers::pi * std::atan(t)).epsilon(1e-6));
    CHECK(student_two_sided(t, 2) == Approx(1 - t / std::sqrt(2 + t * t)).epsilon(1e-6));
  }
  CHECK(student_two_sided(4.604095, 4) == Approx(0.01).epsilon(1e-5));
  CHECK(student_two_sided(3.355387, 8) == Approx(0.01).epsilon(1e-5));
  CHECK(student_two_sided(2.711558, 38) == Approx(0.01).epsilon(1e-5));
  CHECK(student_two_sided(0, 7) == Approx(1));
}

TEST_CASE("the example of Benjamini and Hochberg has four discoveries") {
  const std::vector<double> probabilities{0.0459, 0.0001, 0.0004, 0.3240, 0.0019, 0.0095, 0.0201, 0.0278,
                                          0.0298, 0.0344, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const double level = discovery_level(probabilities, 0.05);
  CHECK(level == Approx(0.05 * 4 / 15));
  CHECK(std::count_if(probabilities.begin(), probabilities.end(), [&](double p) { return p <= level; }) == 4);
  CHECK(discovery_level({}, 0.01) == Approx(0.01));
}

TEST_CASE("chance is called a change no more often than the level says") {
  constexpr std::size_t kPairs = 4'000;
  constexpr double kLevel = 0.01;
  const auto noise = GENERATE(Noise::kIndependent, Noise::kSkewed, Noise::kSpikes);
  const auto [first, second] = GENERATE(std::pair(5, 5), std::pair(5, 20), std::pair(500, 5), std::pair(20, 20), std::pair(21, 39), std::pair(100, 100));
  std::mt19937_64 random(7);
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = test::step_noise({.iterations = first, .noise = noise}, random),
                              b = test::step_noise({.iterations = second, .noise = noise}, random);
    alarms += MeanChange::of_samples(a, b).probability() <= kLevel;
  }
  INFO(first << " and " << second << " samples, noise " << static_cast<int>(noise));
  CHECK(alarms <= at_most(kLevel, kPairs));
}

TEST_CASE("of a hundred series and more that resemble themselves, the noise is known all the same") {
  constexpr std::size_t kPairs = 2'000;
  const auto noise = GENERATE(Noise::kAlike, Noise::kVeryAlike);
  std::mt19937_64 random(11);
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = test::step_noise({.iterations = 200, .noise = noise}, random),
                              b = test::step_noise({.iterations = 200, .noise = noise}, random);
    alarms += MeanChange::of_samples(a, b).probability() <= 0.01;
  }
  CHECK(alarms <= at_most(0.012, kPairs));
}

TEST_CASE("the interval does not depend on where in a series its odd sample lies") {
  for (const std::size_t samples : {std::size_t{10}, std::size_t{20}, std::size_t{100}}) {
    std::mt19937_64 random(samples);
    std::normal_distribution<double> noise(1'050, 10);
    std::vector<double> after(samples);
    for (double& sample : after) sample = noise(random);
    const auto with_odd = [&](std::size_t place) {
      std::vector<double> before(samples, 1'000);
      before[place] = 1'600;
      return MeanChange::of_samples(before, after).interval(0.01);
    };
    const Interval middle = with_odd(samples / 2);
    for (std::size_t place = 0; place < samples; ++place) {
      INFO(samples << " samples, the odd one at " << place);
      const Interval interval = with_odd(place);
      CHECK(interval.low == Approx(middle.low).epsilon(1e-6));
      CHECK(interval.high == Approx(middle.high).epsilon(1e-6));
    }
    if (samples == 100) {  // the odd one is 0.6 % of the mean: 4.4 % are left
      CHECK(middle.low > 0);
      CHECK(middle.high < 10);
    }
  }
}

TEST_CASE("of few samples that resemble themselves, too little is known to call them changed") {
  constexpr std::size_t kPairs = 4'000;
  constexpr double kLevel = 0.01;
  const auto [noise, most] = GENERATE(std::pair(Noise::kAlike, 1.0), std::pair(Noise::kVeryAlike, 2.0));  // times the level
  const int samples = GENERATE(5, 8, 10, 20);
  std::mt19937_64 random(13);
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = test::step_noise({.iterations = samples, .noise = noise}, random),
                              b = test::step_noise({.iterations = samples, .noise = noise}, random);
    alarms += MeanChange::of_samples(a, b).probability() <= kLevel;
  }
  INFO(samples << " samples, noise " << static_cast<int>(noise));
  CHECK(alarms <= at_most(most * kLevel, kPairs));
}

TEST_CASE("the interval holds the true change, and excludes zero just where it is called a change") {
  constexpr std::size_t kPairs = 2'000;
  constexpr double kLevel = 0.01;
  const double change = GENERATE(-30.0, 0.0, 5.0, 60.0);
  const int samples = GENERATE(5, 20, 100);
  std::mt19937_64 random(23);
  std::size_t missed = 0, found = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = test::step_noise({.iterations = samples}, random);
    std::vector<double> b = test::step_noise({.iterations = samples}, random);
    for (double& sample : b) sample *= 1 + change / 100;
    const MeanChange seen = MeanChange::of_samples(a, b);
    const Interval interval = seen.interval(kLevel);
    missed += change < interval.low || change > interval.high;
    const bool excludes_zero = interval.low > 0 || interval.high < 0;
    REQUIRE(excludes_zero == (seen.probability() <= kLevel));
    found += excludes_zero;
  }
  INFO(change << " % of " << samples << " samples");
  CHECK(missed <= at_most(kLevel, kPairs));
  if (std::abs(change) >= 30) CHECK(found >= kPairs * (samples > 5 ? 99 : 50) / 100);  // five samples say little about their spread
}

TEST_CASE("what each so many steps do hides no change of the others, and is none where runs end elsewhere in a period") {
  constexpr std::size_t kPairs = 1'000;
  const std::size_t period = GENERATE(2, 3, 7, 10, 16);
  const std::size_t first = GENERATE(100, 109), second = GENERATE(100, 105);
  std::mt19937_64 random(41);
  std::normal_distribution<double> noise(1, 0.02);
  const auto steps = [&](std::size_t count, double step) {
    std::vector<double> series;
    for (std::size_t i = 0; i < count; ++i) series.push_back(step * noise(random) + (i % period == period - 1 ? 20 : 0));
    return series;
  };
  std::size_t alarms = 0, found = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    alarms += MeanChange::of_samples(steps(first, 6), steps(second, 6)).probability() <= 0.01;
    found += MeanChange::of_samples(steps(first, 6), steps(second, 7.2)).probability() <= 0.001;
  }
  INFO("each " << period << "th of " << first << " and " << second);
  CHECK(alarms <= at_most(0.01, kPairs));
  CHECK(found == kPairs);  // 1.2 more in each step: sixty times its standard error
}

TEST_CASE("a few steps of a program that does more in each so many differ from many of it by chance alone") {
  constexpr std::size_t kPairs = 1'000;
  const std::size_t period = GENERATE(7, 8, 10, 16, 25, 50, 83);
  const std::size_t few = GENERATE(5, 7, 15, 25, 60);
  const double more = GENERATE(2.0, 20.0, 200.0);
  std::mt19937_64 random(47);
  std::normal_distribution<double> noise(1, 0.05);
  const auto steps = [&](std::size_t count, std::size_t phase) {
    std::vector<double> series;
    for (std::size_t i = 0; i < count; ++i) series.push_back(6 * noise(random) + ((i + phase) % period == period - 1 ? more : 0));
    return series;
  };
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = steps(few, pair % 2 == 0 ? 0 : random() % period), b = steps(500, 0);
    alarms += MeanChange::of_samples(a, b).probability() <= 0.01 || MeanChange::of_samples(b, a).probability() <= 0.01;
  }
  INFO(more << " more in each " << period << "th of " << few << " and 500");
  CHECK(alarms <= at_most(0.01, kPairs));
}

TEST_CASE("a few steps without what is rare and irregular differ from many with it by chance alone") {
  constexpr std::size_t kPairs = 1'000;
  const double share = GENERATE(0.02, 0.1);
  const auto [few, many] = GENERATE(std::pair(5, 500), std::pair(25, 500), std::pair(25, 2'000), std::pair(60, 2'000), std::pair(20, 100), std::pair(20, 160),
                                    std::pair(30, 250), std::pair(50, 450));
  std::mt19937_64 random(53);
  std::normal_distribution<double> noise(1, 0.05);
  std::uniform_real_distribution<double> uniform;
  const auto steps = [&](int count) {
    std::vector<double> series;
    for (int i = 0; i < count; ++i) series.push_back(6 * noise(random) + (uniform(random) < share ? 20 : 0));
    return series;
  };
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = steps(few), b = steps(many);
    alarms += MeanChange::of_samples(a, b).probability() <= 0.01 || MeanChange::of_samples(b, a).probability() <= 0.01;
  }
  INFO(share << " of " << few << " and " << many);
  CHECK(alarms <= at_most(0.01, kPairs));
}

namespace {

// Steps of a program that switches between two speeds by chance, and keeps each for a given mean number of steps.
struct TwoSpeeds {
  double fast = 50, slow = 50;  // steps on average
  double slower = 0.2;
  double noise = 0.02;
};
std::vector<double> steps_of(const TwoSpeeds& program, std::size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> noise(1, program.noise);
  std::uniform_real_distribution<double> uniform;
  bool is_slow = uniform(random) < program.slow / (program.slow + program.fast);
  std::vector<double> series;
  for (std::size_t i = 0; i < count; ++i) {
    series.push_back((is_slow ? 1 + program.slower : 1) * noise(random));
    if (uniform(random) < 1 / (is_slow ? program.slow : program.fast)) is_slow = !is_slow;
  }
  return series;
}
// True if each of the two speeds occurs in three or more consecutive steps.
bool shows_both(const TwoSpeeds& program, const std::vector<double>& series) {
  std::size_t most_fast = 0, most_slow = 0, fast = 0, slow = 0;
  for (const double step : series) {
    const bool is_slow = step > 1 + program.slower / 2;
    slow = is_slow ? slow + 1 : 0;
    fast = is_slow ? 0 : fast + 1;
    most_slow = std::max(most_slow, slow);
    most_fast = std::max(most_fast, fast);
  }
  return std::min(most_fast, most_slow) >= 3;
}

}  // namespace

TEST_CASE("steps of one of two speeds differ by chance alone from those of a run that shows both") {
  constexpr std::size_t kPairs = 1'000;
  const TwoSpeeds program =
      GENERATE(TwoSpeeds{50, 50}, TwoSpeeds{90, 10, 0.5}, TwoSpeeds{10, 90, 0.5}, TwoSpeeds{200, 50, 0.5}, TwoSpeeds{8, 8, 0.5}, TwoSpeeds{15, 15, 0.3});
  const auto [few, many] = GENERATE(std::pair(5, 5), std::pair(10, 10), std::pair(20, 20), std::pair(5, 20), std::pair(10, 40), std::pair(50, 50),
                                    std::pair(5, 100), std::pair(20, 250), std::pair(100, 100), std::pair(20, 500), std::pair(200, 200));
  std::mt19937_64 random(59);
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> a = steps_of(program, static_cast<std::size_t>(few), random), b = steps_of(program, static_cast<std::size_t>(many), random);
    if (!shows_both(program, a) && !shows_both(program, b)) continue;  // then nothing shows that there are two speeds
    alarms += MeanChange::of_samples(a, b).probability() <= 0.005;
  }
  INFO(program.fast << " and " << program.slow << " steps, of " << few << " and " << many);
  CHECK(alarms <= at_most(0.01, kPairs));
}

TEST_CASE("steps of one speed are not taken for two, and changes of them are found as before") {
  constexpr std::size_t kPairs = 400;
  struct Power {
    std::size_t few, many;
    double noise, change;
    double least;  // share of pairs in which the change must be found
  };
  const Power power = GENERATE(Power{10, 10, 0.02, 1.1, 0.98}, Power{20, 20, 0.05, 1.1, 0.93}, Power{20, 20, 0.02, 1.05, 0.98}, Power{10, 250, 0.05, 1.3, 0.98},
                               Power{50, 50, 0.05, 1.1, 0.99}, Power{200, 200, 0.05, 1.03, 0.9});
  std::mt19937_64 random(61);
  std::normal_distribution<double> noise(1, power.noise);
  std::size_t found = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    std::vector<double> a(power.few), b(power.many);
    for (double& step : a) step = power.change * noise(random);
    for (double& step : b) step = noise(random);
    found += MeanChange::of_samples(a, b).probability() <= 0.005;
  }
  INFO(power.few << " and " << power.many << " steps");
  CHECK(static_cast<double>(found) >= power.least * kPairs);
}

TEST_CASE("of a program of two speeds, a change of both is found where it keeps them often enough") {
  constexpr std::size_t kPairs = 300;
  const TwoSpeeds program{15, 15, 0.2};
  std::mt19937_64 random(67);
  std::size_t found = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    std::vector<double> a = steps_of(program, 200, random);
    for (double& step : a) step *= 1.3;
    found += MeanChange::of_samples(a, steps_of(program, 200, random)).probability() <= 0.005;
  }
  CHECK(found >= kPairs * 9 / 10);
}

TEST_CASE("what goes over to another speed at the same step of both runs is no noise") {
  std::mt19937_64 random(71);
  std::normal_distribution<double> noise(1, 0.02);
  std::vector<double> a, b;  // inputs of two lengths, in the same order; the second run is 5 % slower
  for (std::size_t i = 0; i < 60; ++i) {
    const double length = i < 25 ? 1 : 2;
    a.push_back(length * noise(random));
    b.push_back(1.05 * length * noise(random));
  }
  CHECK(MeanChange::of_samples(a, b).probability() <= 0.005);
}

TEST_CASE("a change is found beside what fewer than six times happens, and the interval holds it") {
  constexpr std::size_t kPairs = 500;
  struct Shape {
    std::size_t period, first, second;
  };
  const auto [period, first, second] = GENERATE(Shape{10, 50, 50}, Shape{20, 50, 50}, Shape{20, 100, 100}, Shape{30, 100, 105}, Shape{50, 100, 100},
                                                Shape{90, 100, 100}, Shape{7, 25, 500}, Shape{10, 500, 25}, Shape{20, 60, 500}, Shape{50, 60, 500});
  const std::size_t late = GENERATE(0, 3);  // the second run starts this many steps later in the period, for example because more of it was warm-up
  std::mt19937_64 random(59);
  std::normal_distribution<double> noise(1, 0.02);
  const auto steps = [&](std::size_t count, std::size_t phase, double step) {
    std::vector<double> series;
    for (std::size_t i = 0; i < count; ++i) series.push_back(step * noise(random) + ((i + phase) % period == period / 2 ? 20 : 0));
    return series;
  };
  const auto mean = [&](double step) { return step + 20 / static_cast<double>(period); };
  const double change = 100 * (mean(7.2) / mean(6) - 1);
  std::size_t alarms = 0, found = 0, missed = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    alarms += MeanChange::of_samples(steps(first, 0, 6), steps(second, late, 6)).probability() <= 0.01;
    const MeanChange seen = MeanChange::of_samples(steps(first, 0, 6), steps(second, late, 7.2));
    const Interval interval = seen.interval(0.01);
    missed += change < interval.low || change > interval.high;
    found += seen.probability() <= 0.01;
  }
  INFO("each " << period << "th of " << first << " and " << second << ", " << late << " later");
  CHECK(alarms <= at_most(0.01, kPairs));
  CHECK(missed <= at_most(0.01, kPairs));
  CHECK(found >= kPairs * 95 / 100);
}

TEST_CASE("what each tenth step leaves to the next hides no change, though the first has none") {
  constexpr std::size_t kPairs = 500;
  std::mt19937_64 random(61);
  std::normal_distribution<double> noise(1, 0.02);
  const auto steps = [&](double step) {
    std::vector<double> series;
    for (std::size_t i = 0; i < 100; ++i) series.push_back(step * noise(random) + (i > 0 && i % 10 == 0 ? 20 : 0));
    return series;
  };
  std::size_t alarms = 0, found = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    alarms += MeanChange::of_samples(steps(6), steps(6)).probability() <= 0.01;
    found += MeanChange::of_samples(steps(6), steps(6.3)).probability() <= 0.001;
  }
  CHECK(alarms <= at_most(0.01, kPairs));
  CHECK(found == kPairs);  // 0.3 more in each step: 17 times its standard error
}

TEST_CASE("what is alike in the same steps of both runs is no noise, and what is alike by chance is") {
  constexpr std::size_t kPairs = 2'000;
  const int samples = GENERATE(20, 40, 100);
  std::mt19937_64 random(67);
  std::normal_distribution<double> noise(0, 0.01);
  std::size_t found = 0, alarms = 0, alone = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<double> lengths = test::step_noise({.iterations = samples, .noise = Noise::kSkewed}, random);
    const auto run = [&](double factor) {
      std::vector<double> series;
      for (const double length : lengths) series.push_back(factor * length * (1 + noise(random)));
      return series;
    };
    alarms += MeanChange::of_samples(run(1), run(1)).probability() <= 0.01;
    found += MeanChange::of_samples(run(1), run(1.03)).probability() <= 0.01;
    alone += MeanChange::of_samples(lengths, test::step_noise({.iterations = samples, .noise = Noise::kSkewed}, random)).probability() <= 0.01;
  }
  CHECK(alarms <= at_most(0.01, kPairs));
  CHECK(alone <= at_most(0.01, kPairs));
  CHECK(found > kPairs * 9 / 10);  // a change of 3 % among steps that differ by 40 % from each other, with the same lengths in both runs
}

TEST_CASE("the period of a series is the one that brute force finds, however few of its samples are not zero") {
  const int zeros = GENERATE(0, 30, 49, 51, 70, 90, 99);  // percent of all samples
  const std::size_t samples = GENERATE(5, 6, 47, 100, 700);
  const double base = GENERATE(0.0, 1e6);
  std::mt19937_64 random(43);
  std::normal_distribution<double> noise(1, 0.1);
  std::uniform_int_distribution<int> percent(0, 99);
  std::size_t with_one = 0;
  for (std::size_t period = 1; period <= samples / 6 + 2; ++period) {
    std::vector<double> series;
    for (std::size_t i = 0; i < samples; ++i) {
      const bool is_due = i % period == period / 2;
      const bool is_there = is_due || percent(random) >= zeros;
      series.push_back(is_there ? base + std::abs(noise(random)) * (is_due && period > 1 ? 30 : 1) : 0);
    }
    INFO("each " << period << "th of " << samples << ", " << zeros << " % are zero");
    REQUIRE(period_of(series) == period_by_brute_force(series));
    with_one += period_of(series) > 1;
  }
  if (samples == 700 && base == 0) CHECK(with_one > 100);
}

TEST_CASE("of what happens once, twice or never there is no period") {
  for (const std::size_t samples : {5U, 12U, 600U, 3'000U}) {
    std::vector<double> series(samples);
    CHECK(period_of(series) == 1);
    series[samples / 2] = 4;
    CHECK(period_of(series) == 1);
    series[samples / 2 + samples / 7] = 4;
    CHECK(period_of(series) == 1);
    CHECK(period_of(std::vector<double>(samples, 0.1)) == 1);
  }
}

TEST_CASE("a series that never varies differs by any change at all") {
  const std::vector<double> steady(8, 100), more(8, 101);
  CHECK(MeanChange::of_samples(steady, steady).probability() == 1);
  CHECK(MeanChange::of_samples(steady, more).probability() == 0);
  CHECK(MeanChange::of_samples(steady, more).interval(0.01).low == Approx(1));
  CHECK(MeanChange::of_samples(steady, more).interval(0.01).high == Approx(1));
}

TEST_CASE("runs differ from run to run, which their spread tells and no single run does") {
  constexpr std::size_t kTries = 3'000;
  std::mt19937_64 random(31);
  std::normal_distribution<double> run(100, 1);
  const auto [first, second] = GENERATE(std::pair(1, 2), std::pair(1, 5), std::pair(2, 2), std::pair(3, 3), std::pair(6, 6));
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < kTries; ++i) {
    std::vector<double> a, b;
    for (int n = 0; n < first; ++n) a.push_back(run(random));
    for (int n = 0; n < second; ++n) b.push_back(run(random));
    alarms += MeanChange::of_runs(a, b).probability() <= 0.01;
  }
  INFO(first << " and " << second << " runs");
  CHECK(alarms <= at_most(0.01, kTries));
}

TEST_CASE("of pairs of equal runs one in a hundred is said to differ, however many ranks step together") {
  constexpr std::size_t kPairs = 150;
  const int ranks = GENERATE(1, 2, 8);
  const int iterations = GENERATE(5, 30);
  std::size_t alarms = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const EqualRun run{.ranks = ranks, .iterations = iterations};
    const auto diff = compare_traces(*test::equal_run(run, 2 * pair + 1), *test::equal_run(run, 2 * pair + 2));
    REQUIRE(diff);
    REQUIRE(diff->first_iterations + diff->first_skipped == static_cast<std::size_t>(iterations));
    alarms += says_change(*diff);
  }
  INFO(ranks << " ranks, " << iterations << " iterations");
  CHECK(alarms <= at_most(TraceDiff::kFalseAlarms, kPairs));
}

TEST_CASE("of several runs a side, what differs from run to run is noise, and what differs beyond is found") {
  constexpr std::size_t kPairs = 60;
  const EqualRun equal{.iterations = 20, .between_runs = 0.1};
  std::size_t alarms = 0, alone = 0;
  for (std::uint64_t pair = 0; pair < kPairs; ++pair) {
    std::vector<std::shared_ptr<const Trace>> runs;
    for (std::uint64_t run = 0; run < 6; ++run) runs.push_back(test::equal_run(equal, 100 * pair + run));
    const std::span<const std::shared_ptr<const Trace>> all(runs);
    const auto diff = compare_runs(all.first(3), all.subspan(3));
    REQUIRE(diff);
    CHECK(diff->first_runs == 3);
    CHECK(diff->first_iterations + diff->first_skipped == 60);
    alarms += says_change(*diff);
    alone += says_change(*compare_traces(*runs[0], *runs[3]));
  }
  CHECK(alarms <= at_most(TraceDiff::kFalseAlarms, kPairs));
  CHECK(alone > kPairs / 4);  // for this reason several runs are taken

  std::vector<std::shared_ptr<const Trace>> before, after;
  for (std::uint64_t run = 0; run < 4; ++run) {
    before.push_back(test::equal_run({.iterations = 20, .between_runs = 0.01}, run));
    after.push_back(test::equal_run({.iterations = 20, .noise = Noise::kSkewed, .between_runs = 0.01}, 50 + run));
  }
  const auto diff = compare_runs(before, after);
  REQUIRE(diff);
  CHECK(diff->items.front().name == "Iteration");
  CHECK(diff->items.front().first.count == 80);
}
