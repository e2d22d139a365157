#include "model/trace/combining/clock_alignment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "collective_ends.h"
#include "model/trace/median.h"
#include "model/trace/workers/parallel.h"

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

std::optional<ClockAlignment> aligned(const CollectiveEnds& first, const CollectiveEnds& second) {
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

}  // namespace

std::optional<Nanoseconds> shift_by_utc(const Trace& first, const Trace& second) noexcept {
  const std::int64_t a = first.provenance().utc_epoch, b = second.provenance().utc_epoch;
  if (a == 0 || b == 0) return std::nullopt;
  return b - a;
}

Nanoseconds shift_by_start(const Trace& first, const Trace& second) noexcept { return first.scope().begin - second.scope().begin; }

std::optional<Nanoseconds> shift_by_boot(const Trace& first, const Trace& second) noexcept {
  const Provenance& a = first.provenance();
  const Provenance& b = second.provenance();
  if (a.boot_id.empty() || a.boot_id != b.boot_id || a.monotonic_epoch == 0 || b.monotonic_epoch == 0) return std::nullopt;
  return b.monotonic_epoch - a.monotonic_epoch;
}

std::optional<ClockAlignment> clock_by_collectives(const Trace& first, const Trace& second) {
  return aligned(collective_ends(first, {}), collective_ends(second, {}));
}

namespace {

enum class Collectives : std::uint8_t { kAreAsked, kAreLeftOut };

std::vector<ClockAlignment> aligned(std::span<const std::shared_ptr<const Trace>> traces, Collectives collectives, const std::stop_token& stop) {
  std::vector<std::optional<ClockAlignment>> found(traces.size());
  std::vector<std::optional<CollectiveEnds>> ends(traces.size());  // if they were asked for
  const auto ends_of = [&](std::size_t i) -> const CollectiveEnds& { return ends[i] ? *ends[i] : ends[i].emplace(collective_ends(*traces[i], stop)); };
  const auto by_boot = [&](std::size_t known, std::size_t i) -> std::optional<ClockAlignment> {
    const std::optional<Nanoseconds> shift = shift_by_boot(*traces[known], *traces[i]);
    return shift ? std::optional(ClockAlignment{*shift, found[known]->by, found[known]->collectives, found[known]->spread}) : std::nullopt;
  };
  // Finds all ends at once, on all cores, if a trace of some machine must be aligned by collectives: the others of that machine are aligned by that
  // trace.
  const auto find_ends = [&] {
    std::vector<std::size_t> wanted;
    std::set<std::string_view> machines;
    for (std::size_t i = 1; i < traces.size(); ++i) {
      const std::string& boot = traces[i]->provenance().boot_id;
      if (!found[i] && !ends[i] && (boot.empty() || machines.insert(boot).second)) wanted.push_back(i);
    }
    if (!wanted.empty() && !ends.front()) wanted.push_back(0);
    parallel_for(wanted.size(), [&](std::size_t i) { ends[wanted[i]].emplace(collective_ends(*traces[wanted[i]], stop)); });
  };
  const auto by_collectives = [&](std::size_t known, std::size_t i) { return aligned(ends_of(known), ends_of(i)); };
  // A trace that has been aligned serves to align others.
  const auto set_by = [&](const auto& way) {
    bool any = false;
    for (std::size_t i = 1; i < traces.size(); ++i)
      for (std::size_t known = 0; !found[i] && known < traces.size(); ++known)
        if (found[known] && (found[i] = way(known, i))) {
          found[i]->clock = found[i]->clock.then(found[known]->clock);
          any = true;
        }
    return any;
  };
  found.front() = ClockAlignment{};
  while (!stop.stop_requested()) {
    while (set_by(by_boot) || (collectives == Collectives::kAreAsked && (find_ends(), set_by(by_collectives)))) {
    }
    const auto left = std::find(found.begin(), found.end(), std::nullopt);
    if (left == found.end()) break;
    const Trace& trace = *traces[static_cast<std::size_t>(left - found.begin())];
    const std::optional<Nanoseconds> utc = shift_by_utc(*traces.front(), trace);
    *left = utc ? ClockAlignment{*utc, ClockSource::kTimeOfDay} : ClockAlignment{shift_by_start(*traces.front(), trace), ClockSource::kFirstEvents};
  }
  if (stop.stop_requested()) return {};
  std::vector<ClockAlignment> alignments;
  for (const std::optional<ClockAlignment>& each : found) alignments.push_back(*each);
  return alignments;
}

}  // namespace

std::vector<ClockAlignment> align_clocks(std::span<const std::shared_ptr<const Trace>> traces, const std::stop_token& stop) {
  return aligned(traces, Collectives::kAreAsked, stop);
}

std::vector<ClockAlignment> align_clocks_at_once(std::span<const std::shared_ptr<const Trace>> traces) { return aligned(traces, Collectives::kAreLeftOut, {}); }

std::string alignment_sentence(const std::string& name, const ClockAlignment& alignment) {
  switch (alignment.by) {
    case ClockSource::kSameClock:
      return {};
    case ClockSource::kCollectives: {
      std::array<char, 128> text{}, drift{};
      std::snprintf(text.data(), text.size(), " was set by %u collectives in common with others, to within %.1f us.", alignment.collectives,
                    static_cast<double>(alignment.spread) / 1e3);
      const double ppm = alignment.clock.drift() * 1e6;
      if (!alignment.clock.is_shift()) std::snprintf(drift.data(), drift.size(), " It runs %.3f ppm %s.", std::abs(ppm), ppm > 0 ? "slower" : "faster");
      return "The clock of " + name + text.data() + drift.data();
    }
    case ClockSource::kTimeOfDay:
      return "The clock of " + name + " was set by the time of day, which can differ by milliseconds between machines.";
    case ClockSource::kFirstEvents:
      return "How the clock of " + name + " stands to the others is not known: its first event is drawn together with theirs.";
  }
  return {};
}

}  // namespace lanescope
