#include "model/trace/combining/clock_alignment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "clock_by_collectives.h"
#include "collective_ends.h"
#include "model/trace/workers/parallel.h"

namespace lanescope {

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
  const auto by_collectives = [&](std::size_t known, std::size_t i) { return clock_by_collectives(ends_of(known), ends_of(i)); };
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
