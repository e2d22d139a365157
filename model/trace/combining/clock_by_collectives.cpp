#include "clock_by_collectives.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "model/trace/median.h"

namespace lanescope {
namespace {

constexpr std::size_t kFewestCollectives = 3;
constexpr Nanoseconds kWindow = 10'000'000'000;  // of measurements; a quarter of a short recording, so that drift can be measured
constexpr std::size_t kFewestWindows = 3;
constexpr int kRounds = 12;                   // of recomputing the weights
constexpr double kHuber = 1.345;              // in robust deviations (Huber 1981)
constexpr double kRobust = 1.4826;            // deviations in a median distance
constexpr double kLargestDrift = 4e-4;        // ns a ns: clocks that are corrected while they run drift by at most this much, and hardly ever
constexpr Nanoseconds kLeastDrifted = 1'000;  // over all collectives; less is not worth correcting
constexpr Nanoseconds kSurelyDrifted = 4;     // spreads

// The end of a collective on two clocks.
struct CommonEnd {
  Nanoseconds time;   // on the second
  Nanoseconds apart;  // first clock minus second clock
};

// By time.
std::vector<CommonEnd> common_ends(const CollectiveEnds& first, const CollectiveEnds& second) {
  std::vector<CommonEnd> common;
  for (const auto& [communicator, ends] : second) {
    const auto found = first.find(communicator);
    if (found == first.end()) continue;
    for (std::size_t i = 0; i < std::min(ends.size(), found->second.size()); ++i)
      if (ends[i] && found->second[i]) common.push_back({*ends[i], *found->second[i] - *ends[i]});
  }
  std::sort(common.begin(), common.end(), [](const CommonEnd& a, const CommonEnd& b) { return a.time < b.time; });
  return common;
}

// The median distance of ends from a line.
Nanoseconds spread_around(const ClockLine& line, std::span<const CommonEnd> ends) {
  std::vector<Nanoseconds> distances;
  for (const CommonEnd& end : ends) distances.push_back(std::abs(end.time + end.apart - line(end.time)));
  return median(std::move(distances));
}

// The median of each window that has ends. Requires: sorted by time.
std::vector<CommonEnd> medians_of_windows(std::span<const CommonEnd> ends) {
  const Nanoseconds begin = ends.front().time, window = std::min(kWindow, (ends.back().time - begin) / 4 + 1);
  std::vector<CommonEnd> medians;
  for (std::size_t first = 0; first < ends.size();) {
    const Nanoseconds number = (ends[first].time - begin) / window;
    std::vector<Nanoseconds> times, apart;
    for (; first < ends.size() && (ends[first].time - begin) / window == number; ++first) {
      times.push_back(ends[first].time);
      apart.push_back(ends[first].apart);
    }
    medians.push_back({median(std::move(times)), median(std::move(apart))});
  }
  return medians;
}

// A line through measurements by least squares with Huber's weights. Returns nothing if there are too few, or if the result is impossible for a clock.
// Requires: sorted by time.
std::optional<ClockLine> fitted(std::span<const CommonEnd> measurements) {
  if (measurements.size() < kFewestWindows) return std::nullopt;
  const CommonEnd origin = measurements[measurements.size() / 2];
  std::vector<double> times, apart, weights(measurements.size(), 1.0);  // ns from the origin
  for (const CommonEnd& each : measurements) {
    times.push_back(static_cast<double>(each.time - origin.time));
    apart.push_back(static_cast<double>(each.apart - origin.apart));
  }
  double offset = 0, drift = 0;
  for (int round = 0; round < kRounds; ++round) {
    double weight = 0, time = 0, distance = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      weight += weights[i];
      time += weights[i] * times[i];
      distance += weights[i] * apart[i];
    }
    time /= weight;
    distance /= weight;
    double square = 0, product = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      square += weights[i] * (times[i] - time) * (times[i] - time);
      product += weights[i] * (times[i] - time) * (apart[i] - distance);
    }
    if (square <= 0) return std::nullopt;
    drift = product / square;
    offset = distance - drift * time;
    std::vector<double> residuals;
    for (std::size_t i = 0; i < times.size(); ++i) residuals.push_back(std::abs(apart[i] - offset - drift * times[i]));
    const double most = kHuber * std::max(1.0, kRobust * median(residuals));
    for (std::size_t i = 0; i < times.size(); ++i) weights[i] = std::min(1.0, most / std::max(residuals[i], 1e-9));
  }
  if (std::abs(drift) > kLargestDrift) return std::nullopt;
  return ClockLine(origin.apart + std::llround(offset), drift, origin.time);
}

}  // namespace

std::optional<ClockAlignment> clock_by_collectives(const CollectiveEnds& first, const CollectiveEnds& second) {
  const std::vector<CommonEnd> ends = common_ends(first, second);
  if (ends.size() < kFewestCollectives) return std::nullopt;
  std::vector<Nanoseconds> apart;
  for (const CommonEnd& end : ends) apart.push_back(end.apart);
  ClockAlignment alignment{median(std::move(apart)), ClockSource::kCollectives, static_cast<std::uint32_t>(ends.size()), 0};
  alignment.spread = spread_around(alignment.clock, ends);
  if (const std::optional<ClockLine> line = fitted(medians_of_windows(ends))) {
    const Nanoseconds spread = spread_around(*line, ends);
    const double drifted = std::abs(line->drift()) * static_cast<double>(ends.back().time - ends.front().time);
    if (spread <= alignment.spread && drifted > static_cast<double>(std::max(kLeastDrifted, kSurelyDrifted * spread))) {
      alignment.clock = *line;
      alignment.spread = spread;
    }
  }
  return alignment;
}

}  // namespace lanescope
