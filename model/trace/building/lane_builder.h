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

// A lane under construction: full segments, and a tail of events that are not in one yet.
class GrowingLane {
 public:
  // Segments are built by the workers, where there are any, else where events are appended.
  explicit GrowingLane(SegmentWorkers* workers = nullptr, EventMemory memory = EventMemory::kAll) : workers_(workers), memory_(memory) {}

  // Requires: each event starts at or after the end of the one before, the first at or after last_end().
  void append(std::span<const Event> events);
  [[nodiscard]] EventIndex size() const noexcept {
    return static_cast<EventIndex>(segment_starts_.size()) * LaneSegment::kCapacity + static_cast<EventIndex>(tail_.size());
  }
  [[nodiscard]] bool empty() const noexcept { return segment_starts_.empty() && tail_.empty(); }
  [[nodiscard]] Nanoseconds last_end() const noexcept { return last_end_; }
  [[nodiscard]] Nanoseconds last_start() const noexcept { return last_start_; }

  // At least as many events as reopen(t) looks at. O(log segments).
  [[nodiscard]] std::uint64_t reopening_cost(Nanoseconds t) const noexcept;
  // Removes the events with start >= t, or that end after t. O(segments of these + one segment's events).
  [[nodiscard]] EventRun reopen(Nanoseconds t);

  // Begins what publish() ends, if that follows before anything is appended: so that segments of many lanes are built at once.
  void prepare_to_publish();
  // What there is now as an immutable lane. Segments that did not change since the last call are shared.
  Lane publish();

 private:
  void set_last_event();
  void settle();

  SegmentWorkers* workers_;
  EventMemory memory_;
  std::vector<Nanoseconds> segment_starts_;  // of the full segments
  std::vector<std::shared_ptr<const LaneSegment>> full_;
  std::vector<SegmentWorkers::Pending> pending_;  // full ones behind those
  std::vector<Event> tail_;
  SegmentWorkers::Pending pending_tail_;
  std::shared_ptr<const LaneSegment> published_tail_;
  Nanoseconds last_start_ = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds last_end_ = std::numeric_limits<Nanoseconds>::min();
};

using LaneCount = std::atomic<std::uint64_t>;

// Places events on lanes so that none overlap. An event costs O(log n), whatever the order in which events are added, and however many
// overlap.
class TrackLanes {
 public:
  // `count`, where given, counts the lanes that are made. Requires: the workers, where there are any, build for the same memory.
  explicit TrackLanes(SegmentWorkers* workers = nullptr, LaneCount* count = nullptr, EventMemory memory = EventMemory::kAll)
      : workers_(workers), count_(count), memory_(memory) {}

  // Each event goes to the first lane that is free when it starts; of two that start together the longer comes first, so that calls nest
  // and the outer one lies above. Events in front of what is there make the lanes behind them be built again: at once where that is little,
  // else with many others by settle(), which is called then and when there are enough of them.
  void add(std::vector<Event> events);
  // Each event goes to the lane of its depth. Where that is not free (a damaged recording), to the next free one below.
  void add_at_depths(std::vector<Event> events, std::span<const std::uint32_t> depths);

  // Events in order, of which none overlap, all go to this lane. Where that is not free, as by add_at_depths().
  void add_to_lane(std::uint32_t number, std::vector<Event> events);

  [[nodiscard]] static constexpr std::uint32_t lane_of_depth(std::uint32_t depth) noexcept { return std::min(depth, kDeepest); }

  // Puts events that came late into their places. To be called before lanes() are looked at.
  void settle();
  [[nodiscard]] std::vector<GrowingLane>& lanes() noexcept { return lanes_; }

 private:
  static constexpr std::uint32_t kDeepest = 511;  // a damaged depth must not create millions of lanes
  struct LateEvent {
    std::uint32_t depth;
    Event event;
  };

  void add_in_order(std::span<const Event> events);
  void place(const Event& event, std::size_t first_lane);
  void append(std::size_t lane, std::span<const Event> events);
  void insert(std::uint32_t depth, std::vector<EventRun> runs);
  [[nodiscard]] static std::vector<EventRun> runs_of(std::span<const LateEvent> late);
  [[nodiscard]] EventRun reopen(std::size_t lane, Nanoseconds t);
  void rebuild(std::vector<EventRun> runs, Nanoseconds begin);
  [[nodiscard]] std::uint64_t reopening_cost(Nanoseconds t) const noexcept;
  [[nodiscard]] bool may_rebuild(std::uint64_t cost) noexcept;
  void settle_where_late_ones_are_many();
  GrowingLane& lane(std::size_t index);  // made where there is none

  SegmentWorkers* workers_;
  LaneCount* count_;
  EventMemory memory_;
  std::vector<GrowingLane> lanes_;
  FreeLanes free_lanes_;
  Event last_{.start = std::numeric_limits<Nanoseconds>::min()};  // of those in the lanes, in their order
  std::uint64_t added_ = 0;
  std::uint64_t rebuilt_ = 0;             // events that were placed again for late ones that did not wait
  std::vector<std::vector<Event>> late_;  // in order, each; that wait for settle()
  std::uint64_t late_events_ = 0;         // in these
  std::vector<LateEvent> late_by_depth_;
};

}  // namespace lanescope
