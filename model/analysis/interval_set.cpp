#include "interval_set.h"

#include <algorithm>

namespace lanescope::analysis {

void IntervalSet::add(TimeRange range) {
  if (range.empty()) return;
  if (!ranges_.empty() && range.begin <= ranges_.back().end) {
    ranges_.back().end = std::max(ranges_.back().end, range.end);
    return;
  }
  before_.push_back(total());
  ranges_.push_back(range);
}

Nanoseconds IntervalSet::total() const noexcept { return ranges_.empty() ? 0 : before_.back() + ranges_.back().length(); }

Nanoseconds IntervalSet::covered_before(Nanoseconds t) const noexcept {
  const auto after =
      std::lower_bound(ranges_.begin(), ranges_.end(), t, [](const TimeRange& range, Nanoseconds time) { return range.begin < time; });
  if (after == ranges_.begin()) return 0;
  const auto index = static_cast<std::size_t>(after - ranges_.begin()) - 1;
  return before_[index] + std::min(t, ranges_[index].end) - ranges_[index].begin;
}

Nanoseconds IntervalSet::covered(TimeRange window) const noexcept {
  return window.empty() ? 0 : covered_before(window.end) - covered_before(window.begin);
}

Nanoseconds IntervalSet::overlap(const IntervalSet& other) const noexcept {
  Nanoseconds sum = 0;
  for (std::size_t i = 0, j = 0; i < ranges_.size() && j < other.ranges_.size();) {
    sum += ranges_[i].intersected(other.ranges_[j]).length();
    ranges_[i].end < other.ranges_[j].end ? ++i : ++j;
  }
  return sum;
}

}  // namespace lanescope::analysis
