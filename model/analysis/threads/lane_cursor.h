// Looks up times in a lane one after the other: O(1) for each where they ascend, O(log n) where they don't.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/trace/lane.h"

namespace lanescope::analysis {

class LaneCursor {
 public:
  explicit LaneCursor(const Lane& lane) : lane_(&lane) {}
  [[nodiscard]] const Lane& lane() const noexcept { return *lane_; }

  // The first event that ends after t; size() when none.
  EventIndex seek(Nanoseconds t) noexcept {
    const EventIndex size = lane_->size();
    const auto done = [&](EventIndex i) { return lane_->end(i) <= t; };
    if (at_ > 0 && !done(at_ - 1)) at_ = lane_->overlapping({t, t + 1}).first;
    EventIndex step = 1;
    while (at_ < size && done(at_)) {  // gallop: double the step while it stays behind t, then halve it
      const auto ahead = static_cast<EventIndex>(std::min<std::uint64_t>(std::uint64_t{at_} + step, size - 1));
      if (ahead > at_ && done(ahead)) {
        at_ = ahead;
        step = std::min<EventIndex>(step * 2, 1u << 30);
      } else if (step > 1) {
        step /= 2;
      } else {
        ++at_;
      }
    }
    return at_;
  }

  // The event that covers t.
  std::optional<EventIndex> at(Nanoseconds t) noexcept {
    const EventIndex found = seek(t);
    return found < lane_->size() && lane_->start(found) <= t ? std::optional(found) : std::nullopt;
  }

 private:
  const Lane* lane_;
  EventIndex at_ = 0;
};

}  // namespace lanescope::analysis
