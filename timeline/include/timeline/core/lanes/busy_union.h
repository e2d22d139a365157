// When at least one of several lanes is busy: makes the busy time of a row that combines lanes exact, so that it never exceeds the elapsed time.
//
// It stores by how much the sum over the lanes exceeds the union. Lanes whose events never overlap (kernels and copies of one stream, launches of one kernel)
// need no storage. For other lanes it stores either the times at which two, three, ... run at once, or the union of all events, whichever has fewer intervals.
// Immutable and cheap to copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/trace/segments/lane_in_parts.h"
#include "model/trace/storage/interval_union.h"
#include "timeline/core/lanes/lane_subset.h"

namespace lanescope::timeline {

// A lane, or a subset of one, as input of a union. The objects that it refers to must outlive it.
struct BusyLane {
  const Lane* lane = nullptr;
  const LaneSubset* subset = nullptr;  // of the lane, if not all of its events count
  [[nodiscard]] EventIndex size() const noexcept { return subset != nullptr ? subset->size() : lane->size(); }
};

class BusyUnion {
 public:
  BusyUnion() = default;  // of one lane
  // O(events · log lanes).
  explicit BusyUnion(std::span<const BusyLane> lanes);
  // The same for lanes that have grown: `before` is the union of their earlier states, which had the same events until `unchanged_until`. O(events after it),
  // except that all events are processed when their number has doubled.
  BusyUnion(std::span<const BusyLane> lanes, const BusyUnion& before, Nanoseconds unchanged_until);

  // Busy time between each time and the next. On entry, `busy` has the sum over the lanes for each. Requires: `times` ascend and have one more element than
  // `busy`. O(times · lanes at once · log n).
  void unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) const;
  [[nodiscard]] std::size_t intervals() const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  enum class Kept : std::uint8_t { kUnion, kOverlaps };
  [[nodiscard]] static Kept smaller(std::span<const BusyLane> lanes);
  void merge(std::span<const BusyLane> lanes, const BusyUnion* before, Nanoseconds from);

  Kept kept_ = Kept::kOverlaps;
  std::uint64_t events_when_chosen_ = 0;
  // kUnion: the union. kOverlaps: when at least two lanes are busy, when at least three, and so on.
  std::vector<IntervalUnion> layers_;
};

// Computes BusyUnion::unite() from the events alone, for several sets of lanes at once: what they have in common is read once. Keeps what it has read of the
// lanes, so that what follows in time need not be read again. Threads: one at a time.
class EventUnions {
 public:
  struct Wanted {
    std::vector<std::size_t> lanes;  // by their places among all lanes
    std::span<Nanoseconds> busy;     // as in BusyUnion::unite()
  };
  // Requires: as unite_events(), for each of the sets. Lanes that were not asked for in the call before are read again. Of lanes on demand, only parts are
  // decoded in which events of several lanes may run at once. O(events from the first time to the last · (log lanes + sets)).
  void unite(std::span<const BusyLane> lanes, std::span<const Nanoseconds> times, std::span<const Wanted> sets);

 private:
  using Key = std::pair<const Lane*, const LaneSubset*>;
  std::map<Key, LaneTimes> open_;
};

// Computes BusyUnion::unite() from the events alone, for lanes whose union is not kept because it would take memory for each event. O(events from the first
// time to the last · log lanes).
void unite_events(std::span<const BusyLane> lanes, std::span<const Nanoseconds> times, std::span<Nanoseconds> busy);

}  // namespace lanescope::timeline
