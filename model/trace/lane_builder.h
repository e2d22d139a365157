// Builds the lanes of one track from events in any order. Internal to model/trace.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/trace/lane.h"
#include "segment_workers.h"

namespace lanescope {

// A lane under construction: full segments, and a tail of events that are not in one yet.
class GrowingLane {
 public:
  // Segments are built by the workers, where there are any, else where events are appended.
  explicit GrowingLane(SegmentWorkers* workers = nullptr) : workers_(workers) {}

  // Requires: each event starts at or after the end of the one before, the first at or after last_end().
  void append(std::span<const Event> events);
  [[nodiscard]] EventIndex size() const noexcept {
    return static_cast<EventIndex>(full_.size() + pending_.size()) * LaneSegment::kCapacity + static_cast<EventIndex>(tail_.size());
  }
  [[nodiscard]] bool empty() const noexcept { return full_.empty() && pending_.empty() && tail_.empty(); }
  [[nodiscard]] Nanoseconds last_end() const noexcept { return last_end_; }
  [[nodiscard]] Nanoseconds last_start() const noexcept { return last_start_; }

  // Removes the events with start >= t, or that end after t, and appends them to `removed`. O(removed + one segment).
  void reopen(Nanoseconds t, std::vector<Event>& removed);

  // Begins what publish() ends, if that follows before anything is appended: so that segments of many lanes are built at once.
  void prepare_to_publish();
  // What there is now as an immutable lane. Segments that did not change since the last call are shared.
  Lane publish();

 private:
  void set_last_event();
  void settle();

  SegmentWorkers* workers_;
  std::vector<std::shared_ptr<const LaneSegment>> full_;
  std::vector<SegmentWorkers::Pending> pending_;  // full ones behind those
  std::vector<Event> tail_;
  SegmentWorkers::Pending pending_tail_;
  std::shared_ptr<const LaneSegment> published_tail_;
  Nanoseconds last_start_ = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds last_end_ = std::numeric_limits<Nanoseconds>::min();
};

// Places events on lanes so that none overlap.
class TrackLanes {
 public:
  explicit TrackLanes(SegmentWorkers* workers = nullptr) : workers_(workers) {}

  // Each event goes to the first lane that is free when it starts; of two that start together the longer comes first, so that calls nest
  // and the outer one lies above. Events in front of what is there make the lanes behind them be built again.
  void add(std::vector<Event> events);
  // Each event goes to the lane of its depth. Where that is not free (a damaged recording), to the next free one below.
  void add_at_depths(std::vector<Event> events, std::span<const std::uint32_t> depths);

  [[nodiscard]] std::vector<GrowingLane>& lanes() noexcept { return lanes_; }

 private:
  void place(const Event& event, std::size_t first_lane);
  GrowingLane& lane(std::size_t index);  // made where there is none

  SegmentWorkers* workers_;
  std::vector<GrowingLane> lanes_;
};

}  // namespace lanescope
