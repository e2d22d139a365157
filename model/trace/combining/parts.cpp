#include "model/trace/combining/parts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>

#include "model/trace/kernel_records.h"

namespace lanescope {
namespace {

constexpr Nanoseconds kClocksDiffer = 1'000'000'000;  // between two hosts, and after manual corrections

// By how much two parts of a combined trace are off from a clock that they have in common: the clock of one machine, which runs from its start on while
// the time of day may be changed, or otherwise the time of day. Nothing if they have no clock in common.
std::optional<Nanoseconds> off_from_clock(const TracePart& first, const TracePart& second) noexcept {
  const Provenance &one = first.provenance, &other = second.provenance;
  const bool have_one_clock = !one.boot_id.empty() && one.boot_id == other.boot_id && one.monotonic_epoch != 0 && other.monotonic_epoch != 0;
  if (!have_one_clock && (one.utc_epoch == 0 || other.utc_epoch == 0)) return std::nullopt;
  const auto origin = [&](const TracePart& part) {  // modulo 2^64, because epochs in files may be any number
    return static_cast<std::uint64_t>(have_one_clock ? part.provenance.monotonic_epoch : part.provenance.utc_epoch) - static_cast<std::uint64_t>(part.clock(0));
  };
  const auto apart = static_cast<Nanoseconds>(origin(first) - origin(second));
  return apart == INT64_MIN ? INT64_MAX : std::abs(apart);
}

}  // namespace

const TracePart* part_of(const Trace& trace, TrackId track) noexcept {
  const std::vector<TracePart>& parts = trace.parts();  // their tracks follow each other
  const auto part = std::upper_bound(parts.begin(), parts.end(), track, [](TrackId id, const TracePart& one) { return id < one.end_track; });
  return part == parts.end() ? nullptr : &*part;
}

const TracePart* part_of(const Trace& trace, const Track& track) noexcept { return part_of(trace, static_cast<TrackId>(&track - trace.tracks().data())); }

const TracePart* part_of_counter(const Trace& trace, CounterId counter) noexcept {
  const std::vector<TracePart>& parts = trace.parts();  // so do their counters
  const auto part = std::upper_bound(parts.begin(), parts.end(), counter, [](CounterId id, const TracePart& one) { return id < one.end_counter; });
  return part == parts.end() ? nullptr : &*part;
}

std::string_view run_of(const Trace& trace, const Track& track) noexcept {
  const TracePart* const part = part_of(trace, track);
  return part == nullptr ? std::string_view() : part->run;
}

std::string_view part_title(const Trace& trace, const Track& track) noexcept {
  const TracePart* const part = part_of(trace, track);
  return part == nullptr ? std::string_view() : part->run.empty() ? part->label : part->run;
}

bool compares_runs(const Trace& trace) noexcept {
  return std::any_of(trace.parts().begin(), trace.parts().end(), [](const TracePart& part) { return !part.run.empty(); });
}

const TracePart* part_of_process(const Trace& trace, ProcessId process) noexcept {
  if (trace.parts().empty()) return nullptr;
  for (int kind = 0; kind <= static_cast<int>(kLastTrackKind); ++kind)
    if (const auto tracks = trace.tracks_of(process, static_cast<TrackKind>(kind)); !tracks.empty()) return part_of(trace, tracks.front());
  return nullptr;
}

std::vector<const TracePart*> parts_that_only_count(const Trace& trace) {
  std::set<const TracePart*> counting;
  if (!trace.parts().empty() && !compares_runs(trace))
    for (const auto& counts : trace.kernel_records().counted) counting.insert(part_of_process(trace, counts->process));
  std::vector<const TracePart*> parts;
  for (const TracePart& part : trace.parts()) {
    if (!counting.contains(&part)) continue;
    const auto is_other = [&](const TracePart& other) { return !counting.contains(&other) && !other.extent.empty(); };
    const auto ran_beside = [&](const TracePart& other) { return is_other(other) && !other.extent.intersected(part.extent).empty(); };
    if (std::any_of(trace.parts().begin(), trace.parts().end(), is_other) && std::none_of(trace.parts().begin(), trace.parts().end(), ran_beside))
      parts.push_back(&part);
  }
  return parts;
}

std::optional<SavedPart> saved_part_of(const Trace& trace, const TracePart* part) noexcept {
  if (part == nullptr) return trace.provenance().part;
  const std::optional<SavedPart>& saved = part->provenance.part;
  if (!saved) return std::nullopt;
  return SavedPart{part->clock(saved->time), part->clock(saved->first_launch)};
}

bool ran_together(const TracePart& first, const TracePart& second, const TracePart& axis) noexcept {
  if (&first == &second) return true;
  const auto is_set_by_collectives = [&](const TracePart& part) {  // or it is what the others were aligned with: the first part, or one of its machine
    if (part.has_collectives_in_common || &part == &axis) return true;
    return part.provenance.boot_id == axis.provenance.boot_id && off_from_clock(axis, part).value_or(0) <= kClocksDiffer;
  };
  if (is_set_by_collectives(first) && is_set_by_collectives(second)) return true;
  return off_from_clock(first, second).value_or(0) <= kClocksDiffer;
}

PartsOfGpus::PartsOfGpus(const Trace& trace) {
  if (trace.parts().empty()) return;
  parts_.resize(trace.gpus().size());
  for (const TracePart& part : trace.parts()) {
    const auto add = [&](GpuId gpu) {
      if (gpu < parts_.size() && parts_[gpu] == nullptr) parts_[gpu] = &part;
    };
    for (TrackId track = part.first_track; track < part.end_track; ++track) add(trace.tracks()[track].key.gpu);
    for (CounterId counter = part.first_counter; counter < part.end_counter; ++counter) add(trace.counters()[counter].gpu);
  }
}

}  // namespace lanescope
