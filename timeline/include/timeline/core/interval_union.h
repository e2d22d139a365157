// When at least one of several lanes is busy: their events merged into intervals that neither overlap nor touch.
//
// Makes "busy" of a row that combines lanes exact: it never exceeds the time there is. 8 bytes an interval, 16 where 8192 in a row span
// more than four seconds. Immutable and cheap to copy:
// intervals lie in parts, which a union of lanes that have grown shares with the union before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "timeline/core/lane_subset.h"

namespace lanescope::timeline {

// A lane, or a subset of one, as far as unions need to know it. What it refers to must outlive it.
struct BusyLane {
  const Lane* lane = nullptr;
  const LaneSubset* subset = nullptr;  // of the lane, where not all of it counts
};

// Times that ascend, as 32-bit distances from the first where the last allows it.
class AscendingTimes {
 public:
  // Requires: `times` is not empty.
  explicit AscendingTimes(std::span<const Nanoseconds> times);
  [[nodiscard]] std::size_t size() const noexcept { return far_.empty() ? near_.size() : far_.size(); }
  [[nodiscard]] Nanoseconds operator[](std::size_t i) const noexcept { return far_.empty() ? first_ + near_[i] : far_[i]; }
  [[nodiscard]] Nanoseconds back() const noexcept { return (*this)[size() - 1]; }
  // First of [from, to) that is not before t. O(log n).
  [[nodiscard]] std::size_t lower_bound(Nanoseconds t, std::size_t from, std::size_t to) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  Nanoseconds first_;
  std::vector<std::uint32_t> near_;
  std::vector<Nanoseconds> far_;  // instead, where distances do not fit
};

class IntervalUnion {
 public:
  IntervalUnion() = default;
  // O(events · log lanes).
  explicit IntervalUnion(std::span<const BusyLane> lanes);
  // The same for lanes that have grown: `before` is the union of their earlier states, which had the same events up to `unchanged_until`.
  // O(events after it).
  IntervalUnion(std::span<const BusyLane> lanes, const IntervalUnion& before, Nanoseconds unchanged_until);

  [[nodiscard]] std::size_t size() const noexcept { return parts_.empty() ? 0 : (parts_.size() - 1) * kCapacity + parts_.back()->size(); }
  [[nodiscard]] Nanoseconds start(std::size_t interval) const noexcept { return part(interval).starts[interval % kCapacity]; }
  [[nodiscard]] Nanoseconds end(std::size_t interval) const noexcept {
    return part(interval).starts[interval % kCapacity] + part(interval).busy[interval % kCapacity + 1] -
           part(interval).busy[interval % kCapacity];
  }

  // First interval with start >= t. O(log n).
  [[nodiscard]] std::size_t lower_bound(Nanoseconds t) const noexcept;
  // Covered time before t. O(log n).
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t) const noexcept { return busy_before(t, lower_bound(t)); }
  // busy_before() of each. Requires: `times` ascend.
  void busy_before(std::span<const Nanoseconds> times, std::span<Nanoseconds> into) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::size_t kCapacity = 1u << 13;
  struct Part {
    [[nodiscard]] std::size_t size() const noexcept { return starts.size(); }
    AscendingTimes starts;
    AscendingTimes busy;  // of the union before each interval; one more than there are intervals
  };
  class Writer;

  [[nodiscard]] const Part& part(std::size_t interval) const noexcept { return *parts_[interval / kCapacity]; }
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t, std::size_t lower_bound_of_t) const noexcept;
  void merge(std::span<const BusyLane> lanes, Nanoseconds from, Writer& writer);

  std::vector<std::shared_ptr<const Part>> parts_;  // all but the last are full
};

}  // namespace lanescope::timeline
