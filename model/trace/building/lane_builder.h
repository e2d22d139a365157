// Builds the lanes of one track from events in any order. Internal to model/trace.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "event_merge.h"
#include "free_lanes.h"
#include "model/trace/lane.h"
#include "segments/segment_workers.h"

namespace lanescope {

// A lane under construction: full segments, and a tail of events that are in no segment yet.
class GrowingLane {
 public:
  // Segments are built by the workers, if there are any, otherwise by the call that appends events.
  explicit GrowingLane(SegmentWorkers* workers = nullptr, EventMemory memory = EventMemory::kAll) : workers_(workers), memory_(memory) {}

  // Requires: each event starts at or after the end of the previous one, the first at or after last_end().
  void append(std::span<const Event> events);
  [[nodiscard]] EventIndex size() const noexcept {
    return static_cast<EventIndex>(segment_starts_.size()) * LaneSegment::kCapacity + static_cast<EventIndex>(tail_.size());
  }
  [[nodiscard]] bool empty() const noexcept { return segment_starts_.empty() && tail_.empty(); }
  [[nodiscard]] Nanoseconds last_end() const noexcept { return last_end_; }
  [[nodiscard]] Nanoseconds last_start() const noexcept { return last_start_; }

  // An upper bound of the number of events that reopen(t) looks at. O(log segments).
  [[nodiscard]] std::uint64_t reopening_cost(Nanoseconds t) const noexcept;
  // Removes the events with start >= t, or that end after t. O(segments of these + one segment's events).
  [[nodiscard]] EventRun reopen(Nanoseconds t);

  // Starts what publish() finishes, if publish() is called before anything is appended: so that segments of many lanes are built at the same time.
  void prepare_to_publish();
  // The lane so far, as an immutable lane. Segments that did not change since the last call are shared.
  Lane publish();
  // The same with one more event behind all, which stays no part of what grows here. Requires: publish() was called since the last append().
  [[nodiscard]] Lane publish_with(const Event& further) const;
  // Whether an event that begins then can be the next.
  [[nodiscard]] bool ends_before(Nanoseconds start) const noexcept { return last_end_ <= start && last_start_ < start; }

 private:
  void set_last_event();
  void settle();

  SegmentWorkers* workers_;
  EventMemory memory_;
  std::vector<Nanoseconds> segment_starts_;  // of the full segments
  std::vector<std::shared_ptr<const LaneSegment>> full_;
  std::vector<SegmentWorkers::Pending> pending_;  // full segments after those
  std::vector<Event> tail_;
  SegmentWorkers::Pending pending_tail_;
  std::shared_ptr<const LaneSegment> published_tail_;
  Nanoseconds last_start_ = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds last_end_ = std::numeric_limits<Nanoseconds>::min();
};

using LaneCount = std::atomic<std::uint64_t>;

// Places events on lanes so that none overlap. An event costs O(log n), whatever the order in which events are added, and however many overlap.
class TrackLanes {
 public:
  // `count`, if given, counts the lanes that are made. Requires: the workers, if there are any, build for the same memory.
  explicit TrackLanes(SegmentWorkers* workers = nullptr, LaneCount* count = nullptr, EventMemory memory = EventMemory::kAll)
      : workers_(workers), count_(count), memory_(memory) {}

  // Each event goes to the first lane that is free when it starts. Of two events that start together the longer comes first, so that calls nest and the
  // outer one lies above. If events come before those that are there, the lanes after them are built again: at once if that is little work, otherwise
  // together with many others in settle(), which is also called when there are enough of them.
  void add(std::vector<Event> events);
  // Each event goes to the lane of its depth. If that is not free (a damaged recording), it goes to the next free lane below.
  void add_at_depths(std::vector<Event> events, std::span<const std::uint32_t> depths);

  // Events in order, none of which overlap, all go to this lane. If it is not free, they are placed as by add_at_depths().
  void add_to_lane(std::uint32_t number, std::vector<Event> events);

  [[nodiscard]] static constexpr std::uint32_t lane_of_depth(std::uint32_t depth) noexcept { return std::min(depth, kDeepest); }

  // Puts late events into their places. Must be called before lanes() are looked at.
  void settle();
  [[nodiscard]] std::vector<GrowingLane>& lanes() noexcept { return lanes_; }
  GrowingLane& lane(std::size_t index);  // made, with those above, where there is none

 private:
  static constexpr std::uint32_t kDeepest = 511;  // a damaged depth must not create millions of lanes
  struct LateEvent {
    std::uint32_t depth;
    Event event;
  };

  void add_in_order(std::span<const Event> events);
  void place(const Event& event, std::size_t first_lane);
  void append(std::size_t lane, std::span<const Event> events);
  void add_late(std::vector<LateEvent> late);
  void insert(std::uint32_t depth, std::vector<EventRun> runs);
  [[nodiscard]] static std::vector<EventRun> runs_of(std::span<const LateEvent> late);
  [[nodiscard]] EventRun reopen(std::size_t lane, Nanoseconds t);
  void rebuild(std::vector<EventRun> runs, Nanoseconds begin);
  [[nodiscard]] std::uint64_t reopening_cost(Nanoseconds t) const noexcept;
  [[nodiscard]] bool may_rebuild(std::uint64_t cost) noexcept;
  void settle_where_late_ones_are_many();

  SegmentWorkers* workers_;
  LaneCount* count_;
  EventMemory memory_;
  std::vector<GrowingLane> lanes_;
  FreeLanes free_lanes_;
  Event last_{.start = std::numeric_limits<Nanoseconds>::min()};  // the last event on the lanes, in their order
  std::uint64_t added_ = 0;
  std::uint64_t rebuilt_ = 0;             // events that were placed again for late ones that did not wait
  std::vector<std::vector<Event>> late_;  // each in order; they wait for settle()
  std::uint64_t late_events_ = 0;         // number of events in these
  std::vector<LateEvent> late_by_depth_;
};

}  // namespace lanescope
