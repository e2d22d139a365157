// Summaries of many samples are correct for all samples, however they are stored.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "summary.h"
#include "support/catch.h"

using lanescope::Samples;
using namespace lanescope::stats;

namespace {

// Computed by sorting all samples.
Summary by_hand(std::vector<std::int64_t> samples, const Percentiles& percentiles) {
  std::sort(samples.begin(), samples.end());
  Summary summary;
  const std::size_t n = samples.size();
  summary.count = static_cast<std::int64_t>(n);
  summary.total = std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  summary.average = static_cast<double>(summary.total) / static_cast<double>(n);
  summary.minimum = samples.front();
  summary.maximum = samples.back();
  summary.median = n % 2 != 0 ? static_cast<double>(samples[n / 2]) : (static_cast<double>(samples[n / 2 - 1]) + static_cast<double>(samples[n / 2])) / 2;
  long double squares = 0;
  for (const std::int64_t sample : samples) squares += std::pow(static_cast<long double>(sample) - static_cast<long double>(summary.average), 2);
  if (n > 1) summary.deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(n - 1)));
  for (const std::uint8_t percentile : percentiles) {
    const double place = static_cast<double>(n - 1) * percentile / 100;
    const auto low = static_cast<double>(samples[static_cast<std::size_t>(place)]),
               high = static_cast<double>(samples[static_cast<std::size_t>(std::ceil(place))]);
    summary.percentiles.push_back(low + (high - low) * (place - std::floor(place)));
  }
  return summary;
}

}  // namespace

TEST_CASE("a summary is that of all samples, of few and of many, of like and of unlike ones") {
  const auto count = GENERATE(1u, 2u, 999u, 262'144u, 262'145u, 700'000u, 1'200'001u);
  const auto span = GENERATE(std::uint64_t{1}, std::uint64_t{3'000}, std::uint64_t{200'000}, std::uint64_t{1} << 40);
  const auto parts = GENERATE(1u, 3u);
  INFO(count << " samples of " << span << " values in " << parts << " parts");
  std::mt19937_64 random(count + parts);
  std::vector<std::int64_t> all;
  std::vector<Samples> samples(parts);
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back(static_cast<std::int64_t>(random() % span) - static_cast<std::int64_t>(span / 4));
    samples[random() % parts].push_back(all.back());
  }
  for (std::uint32_t part = 1; part < parts; ++part) samples[0].append(std::move(samples[part]));
  const Percentiles percentiles{1, 50, 95, 99};
  const Summary summary = summarize(samples[0], percentiles), expected = by_hand(all, percentiles);
  CHECK(summary.count == expected.count);
  CHECK(summary.total == expected.total);
  CHECK(summary.average == expected.average);
  CHECK(summary.median == expected.median);
  CHECK(summary.minimum == expected.minimum);
  CHECK(summary.maximum == expected.maximum);
  for (std::size_t i = 0; i < percentiles.size(); ++i)
    CHECK(summary.percentiles[i] == Approx(expected.percentiles[i]).margin(1e-6 * static_cast<double>(expected.maximum - expected.minimum)));
  CHECK(summary.percentiles[1] == summary.median);
  CHECK(std::abs(summary.deviation - expected.deviation) <= 1e-9 * expected.deviation);
}

TEST_CASE("no samples have no summary") {
  Samples none;
  CHECK(none.empty());
  CHECK(summarize(none, {50}).count == 0);
}
