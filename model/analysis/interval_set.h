// Time that is covered by at least one of several ranges.
#pragma once

#include <span>
#include <vector>

#include "model/trace/types.h"

namespace lanescope::analysis {

class IntervalSet {
 public:
  // Requires: ranges come in order of begin. O(1).
  void add(TimeRange range);

  [[nodiscard]] std::span<const TimeRange> ranges() const noexcept { return ranges_; }  // apart from each other, in order
  [[nodiscard]] Nanoseconds total() const noexcept;                                     // O(1)
  [[nodiscard]] Nanoseconds covered(TimeRange window) const noexcept;                   // O(log n)
  [[nodiscard]] Nanoseconds overlap(const IntervalSet& other) const noexcept;           // O(n)

 private:
  [[nodiscard]] Nanoseconds covered_before(Nanoseconds t) const noexcept;
  std::vector<TimeRange> ranges_;
  std::vector<Nanoseconds> before_;  // time that earlier ranges cover
};

}  // namespace lanescope::analysis
