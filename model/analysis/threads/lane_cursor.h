// Looks up times in a lane one after another: O(1) for each if they ascend, O(log n) if they do not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "model/trace/lane.h"

namespace lanescope::analysis {

class LaneCursor {
 public:
  explicit LaneCursor(const Lane& lane) : lane_(&lane) {}
  [[nodiscard]] const Lane& lane() const noexcept { return *lane_; }

  // The first event that ends after t; size() if there is none.
  EventIndex seek(Nanoseconds t) noexcept {
    if (t < since_ || t >= time_.end) search(t);
    return at_;
  }

  // The event that covers t, if any.
  std::optional<EventIndex> at(Nanoseconds t) noexcept {
    const EventIndex found = seek(t);
    return found < lane_->size() && time_.begin <= t ? std::optional(found) : std::nullopt;
  }

  // The time of the event that was found last, without a look at the lane; the end of all time if there was none.
  [[nodiscard]] TimeRange time() const noexcept { return time_; }

 private:
  static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

  void search(Nanoseconds t) noexcept {
    const EventIndex size = lane_->size();
    const auto done = [&](EventIndex i) { return lane_->end(i) <= t; };
    if (t < since_) at_ = lane_->overlapping({t, t + 1}).first;
    // The heads of segments tell which end before t.
    std::size_t segment = at_ / LaneSegment::kCapacity;
    while (segment < lane_->segment_count() && lane_->segment_end(segment) <= t) ++segment;
    at_ = std::max(at_, static_cast<EventIndex>(std::min<std::uint64_t>(std::uint64_t{segment} * LaneSegment::kCapacity, size)));
    EventIndex step = 1;
    while (at_ < size && done(at_)) {  // gallop: double the step while the event ends before t, then halve it
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
    since_ = t;
    time_ = at_ < size ? TimeRange{lane_->start(at_), lane_->end(at_)} : TimeRange{kNever, kNever};
  }

  const Lane* lane_;
  EventIndex at_ = 0;
  TimeRange time_{kNever, kNever};  // of the event at at_
  Nanoseconds since_ = kNever;      // from this time on it is the first event that ends later
};

}  // namespace lanescope::analysis
