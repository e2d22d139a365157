// When at least one of several lanes is busy: their events merged into intervals that neither overlap nor touch.
//
// Makes "busy" of a row that combines lanes exact: it never exceeds the time there is. 16 bytes an interval.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/trace/lane.h"

namespace lanescope::timeline {

class IntervalUnion {
 public:
  IntervalUnion() = default;
  // O(events · log lanes).
  explicit IntervalUnion(std::span<const Lane* const> lanes);
  // The same for lanes that have grown: `before` is the union of their earlier states, which had the same events up to `unchanged_until`.
  // O(events after it).
  IntervalUnion(std::span<const Lane* const> lanes, const IntervalUnion& before, Nanoseconds unchanged_until);

  [[nodiscard]] std::size_t size() const noexcept { return starts_.size(); }
  [[nodiscard]] Nanoseconds start(std::size_t interval) const noexcept { return starts_[interval]; }
  [[nodiscard]] Nanoseconds end(std::size_t interval) const noexcept;

  // First interval with start >= t, looked for from `from` on. O(log distance).
  [[nodiscard]] std::size_t lower_bound(Nanoseconds t, std::size_t from = 0) const noexcept;
  // Covered time before t. O(log n), and O(1) with lower_bound(t) known.
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t) const noexcept { return busy_before(t, lower_bound(t)); }
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t, std::size_t lower_bound_of_t) const noexcept;

 private:
  void merge(std::span<const Lane* const> lanes, Nanoseconds from);

  std::vector<Nanoseconds> starts_;
  std::vector<Nanoseconds> busy_;  // before the interval; one more than there are intervals
};

}  // namespace lanescope::timeline
