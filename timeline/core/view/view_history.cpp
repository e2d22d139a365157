#include "timeline/core/view/view_history.h"

namespace lanescope::timeline {

void ViewHistory::visit(TimeRange range, Clock::time_point now) {
  if (range == current()) return;
  ranges_.resize(position_ + 1);
  if (may_coalesce_ && now - last_visit_ < kCoalescing) {
    ranges_[position_] = range;
  } else {
    ranges_.push_back(range);
    ++position_;
  }
  may_coalesce_ = true;
  last_visit_ = now;
}

TimeRange ViewHistory::back() {
  may_coalesce_ = false;
  return ranges_[--position_];
}

TimeRange ViewHistory::forward() {
  may_coalesce_ = false;
  return ranges_[++position_];
}

}  // namespace lanescope::timeline
