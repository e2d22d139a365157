#include "model/trace/clock_alignment.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "collective_ends.h"
#include "model/trace/parallel.h"

namespace lanescope {
namespace {

constexpr std::size_t kFewestCollectives = 3;
constexpr Nanoseconds kLargestSpread = 200'000;

// Reorders the values.
Nanoseconds median(std::vector<Nanoseconds>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<ClockAlignment> aligned(const CollectiveEnds& first, const CollectiveEnds& second) {
  std::vector<Nanoseconds> apart;
  for (const auto& [communicator, ends] : second) {
    const auto found = first.find(communicator);
    if (found == first.end()) continue;
    for (std::size_t i = 0; i < std::min(ends.size(), found->second.size()); ++i)
      if (ends[i] && found->second[i]) apart.push_back(*found->second[i] - *ends[i]);
  }
  if (apart.size() < kFewestCollectives) return std::nullopt;
  ClockAlignment alignment{median(apart), ClockSource::kCollectives, static_cast<std::uint32_t>(apart.size()), 0};
  for (Nanoseconds& each : apart) each = std::abs(each - alignment.shift);
  alignment.spread = median(apart);
  return alignment.spread <= kLargestSpread ? std::optional(alignment) : std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> shift_by_utc(const Trace& first, const Trace& second) noexcept {
  const std::int64_t a = first.provenance().utc_epoch, b = second.provenance().utc_epoch;
  if (a == 0 || b == 0) return std::nullopt;
  return b - a;
}

Nanoseconds shift_by_start(const Trace& first, const Trace& second) noexcept { return first.extent().begin - second.extent().begin; }

std::optional<Nanoseconds> shift_by_boot(const Trace& first, const Trace& second) noexcept {
  const Provenance& a = first.provenance();
  const Provenance& b = second.provenance();
  if (a.boot_id.empty() || a.boot_id != b.boot_id || a.monotonic_epoch == 0 || b.monotonic_epoch == 0) return std::nullopt;
  return b.monotonic_epoch - a.monotonic_epoch;
}

std::optional<ClockAlignment> shift_by_collectives(const Trace& first, const Trace& second) {
  return aligned(collective_ends(first, {}), collective_ends(second, {}));
}

std::vector<ClockAlignment> align_clocks(std::span<const std::shared_ptr<const Trace>> traces, const std::stop_token& stop) {
  std::vector<std::optional<ClockAlignment>> found(traces.size());
  std::vector<std::optional<CollectiveEnds>> ends(traces.size());  // where they were asked for
  const auto ends_of = [&](std::size_t i) -> const CollectiveEnds& { return ends[i] ? *ends[i] : ends[i].emplace(collective_ends(*traces[i], stop)); };
  const auto by_boot = [&](std::size_t known, std::size_t i) -> std::optional<ClockAlignment> {
    const std::optional<Nanoseconds> shift = shift_by_boot(*traces[known], *traces[i]);
    return shift ? std::optional(ClockAlignment{*shift, found[known]->by, found[known]->collectives, found[known]->spread}) : std::nullopt;
  };
  // At once, on all cores, where one of a machine is to be set: by it, the others of the machine are.
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
  // One that has been set serves others, whose times it shifts as well.
  const auto set_by = [&](const auto& way) {
    bool any = false;
    for (std::size_t i = 1; i < traces.size(); ++i)
      for (std::size_t known = 0; !found[i] && known < traces.size(); ++known)
        if (found[known] && (found[i] = way(known, i))) {
          found[i]->shift += found[known]->shift;
          any = true;
        }
    return any;
  };
  found.front() = ClockAlignment{};
  while (!stop.stop_requested()) {
    while (set_by(by_boot) || (find_ends(), set_by(by_collectives))) {
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

std::string alignment_sentence(const std::string& name, const ClockAlignment& alignment) {
  switch (alignment.by) {
    case ClockSource::kSameClock:
      return {};
    case ClockSource::kCollectives: {
      std::array<char, 96> text{};
      std::snprintf(text.data(), text.size(), " was set by %u collectives in common with others, to within %.1f us.", alignment.collectives,
                    static_cast<double>(alignment.spread) / 1e3);
      return "The clock of " + name + text.data();
    }
    case ClockSource::kTimeOfDay:
      return "The clock of " + name + " was set by the time of day, which can differ by milliseconds between machines.";
    case ClockSource::kFirstEvents:
      return "How the clock of " + name + " stands to the others is not known: its first event is drawn together with theirs.";
  }
  return {};
}

}  // namespace lanescope
