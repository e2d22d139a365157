// Iterations that become longer and longer, and that chance makes few of equal runs look so.
#include <cmath>
#include <random>
#include <vector>

#include "answers.h"
#include "rules/tail/growth.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

// Steps of the given lengths, each with 0.6 ms of GPU work that it waits for.
Scenario steps_of(const std::vector<Nanoseconds>& lengths) {
  Scenario program;
  Nanoseconds t = 0;
  for (std::size_t step = 0; step < lengths.size(); ++step) {
    program.range("step " + std::to_string(step), t, t + lengths[step]);
    program.kernel("k", t, t + 5'000, t + 6'000, t + 606'000);
    t += lengths[step];
  }
  return program;
}

// 100 steps of 1.00, 1.01, ... 1.99 ms.
std::vector<Nanoseconds> growing() {
  std::vector<Nanoseconds> lengths;
  for (int step = 0; step < 100; ++step) lengths.push_back(kMillisecond + step * 10 * kMicrosecond);
  return lengths;
}

}  // namespace

TEST_CASE("a loop that becomes slower and slower is told as such, not as slow iterations") {
  const RuleAnswer tail = answer(*steps_of(growing()).trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  const Finding& finding = tail.findings.front();
  CHECK(finding.key == "growth");
  CHECK_THAT(finding.title, contains_text("100 iterations (\"step *\") became slower and slower, from 1.04 ms (first tenth) to 1.95 ms (last tenth)"));
  CHECK(finding.cost == 45 * kMillisecond);  // 149.5 ms, less 100 times the median of the first ten: 1.045 ms
  CHECK_THAT(finding.seen, contains_text("idle GPU while the launching thread ran CPU code"));
  CHECK(finding.place.range.end == 149'500 * kMicrosecond);
  CHECK(finding.place.range.length() == 19'450 * kMicrosecond);  // the last ten
  CHECK(tail.tables.empty());                                    // each is as long as its neighbours
}

TEST_CASE("in a loop that becomes slower, slow iterations are those that are longer than their neighbours") {
  std::vector<Nanoseconds> lengths = growing();
  lengths[10] = 3 * kMillisecond;  // instead of 1.10
  const RuleAnswer tail = answer(*steps_of(lengths).trace(), "tail");
  REQUIRE(tail.findings.size() == 2);
  const Finding& slow = tail.findings.back();  // it costs less
  CHECK(tail.findings.front().key == "growth");
  CHECK_THAT(slow.title, contains_text("1 of 100 iterations") && contains_text("longer than the median of their neighbours"));
  // Its neighbours are the steps 0 to 30, of which it is one: the median is 1.16 ms.
  CHECK(slow.cost == 1'840 * kMicrosecond);
}

TEST_CASE("a program that runs ahead of its GPU at first does not become slower") {
  Scenario program;
  for (int step = 0; step < 60; ++step) {  // ten steps lead, then each waits for the one ten before
    const Nanoseconds begin = step < 10 ? step * 100 * kMicrosecond : (step - 9) * kMillisecond;
    const Nanoseconds end = step < 9 ? begin + 100 * kMicrosecond : (step - 8) * kMillisecond;
    program.range("step " + std::to_string(step), begin, end);
    program.kernel("k", begin, begin + 5'000, step * kMillisecond + 6'000, (step + 1) * kMillisecond);
  }
  CHECK(answer(*program.trace(), "tail").findings.empty());
}

TEST_CASE("long times at the end alone are no growth, and neither is growth below a tenth") {
  std::mt19937 random(1);
  std::vector<Nanoseconds> times;
  for (int i = 0; i < 1000; ++i) times.push_back(1'000'000 + static_cast<Nanoseconds>(random() % 10'000));
  for (std::size_t i = 900; i < 1000; ++i) times[i] *= 3;
  CHECK_FALSE(growth_of(times));
  std::vector<Nanoseconds> little;
  for (int i = 0; i < 1000; ++i) little.push_back(1'000'000 + i * 90);
  CHECK_FALSE(growth_of(little));
  CHECK_FALSE(growth_of(std::vector<Nanoseconds>(1000, 5)));
  CHECK_FALSE(growth_of({}));
}

TEST_CASE("chance makes at most one in a thousand equal runs look as if they became slower") {
  // Spread so widely that tenths often differ by 10 %.
  constexpr int kRuns = 10'000;
  for (const std::size_t iterations : {std::size_t{30}, std::size_t{100}}) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> time(0, 0.5);
    int alarms = 0;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<Nanoseconds> times;
      for (std::size_t i = 0; i < iterations; ++i) times.push_back(std::llround(1e6 * time(random)));
      alarms += growth_of(times) ? 1 : 0;
    }
    CAPTURE(iterations, alarms);
    CHECK(alarms <= 10);
  }
}
