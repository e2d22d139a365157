// The history of visible ranges, like that of a browser. A value.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "model/trace/types.h"

namespace lanescope::timeline {

class ViewHistory {
 public:
  using Clock = std::chrono::steady_clock;
  // Steps that follow each other faster are merged, so that a turn of the wheel is undone at once.
  static constexpr std::chrono::milliseconds kCoalescing{400};

  explicit ViewHistory(TimeRange first = {}) : ranges_{first} {}

  // The view moved. Forward entries are removed.
  void visit(TimeRange range, Clock::time_point now);

  [[nodiscard]] TimeRange current() const { return ranges_[position_]; }
  [[nodiscard]] bool can_go_back() const { return position_ > 0; }
  [[nodiscard]] bool can_go_forward() const { return position_ + 1 < ranges_.size(); }
  TimeRange back();     // requires: can_go_back()
  TimeRange forward();  // requires: can_go_forward()

 private:
  std::vector<TimeRange> ranges_;
  std::size_t position_ = 0;
  Clock::time_point last_visit_{};
  bool may_coalesce_ = false;  // the last visit created the current entry
};

}  // namespace lanescope::timeline
