// Builds the segments of lanes on threads of its own, so that the thread that puts events in their places need not wait. Internal to model/trace.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "model/trace/lane.h"
#include "model/trace/segments/scratch_memory.h"

namespace lanescope {

// If memory is EventMemory::kBudget, full segments lie in a block of their own (scratch_memory.h).
[[nodiscard]] std::shared_ptr<const LaneSegment> make_segment(std::span<const Event> events, EventMemory memory);

// Any thread may call its functions.
class SegmentWorkers {
 public:
  class Segment;  // a segment under construction
  using Pending = std::shared_ptr<Segment>;

  explicit SegmentWorkers(EventMemory memory = EventMemory::kAll);
  ~SegmentWorkers();
  SegmentWorkers(const SegmentWorkers&) = delete;
  SegmentWorkers& operator=(const SegmentWorkers&) = delete;

  // Requires: as LaneSegment. If many are waiting, one is built before this returns, so that memory is bounded.
  [[nodiscard]] Pending build(std::vector<Event> events);
  // The same for events that stay where they are until the segment is taken.
  [[nodiscard]] Pending build(std::span<const Event> events);
  // Waits for a segment, and builds others meanwhile.
  [[nodiscard]] std::shared_ptr<const LaneSegment> take(const Pending& pending);
  // Memory for the events of another segment: that of a segment that was built, if there is any.
  [[nodiscard]] std::vector<Event> spare();

 private:
  [[nodiscard]] Pending add(Pending pending);
  void serve();
  // Builds the segment that has waited longest. Requires: `lock` is held and a segment waits.
  void build_one(std::unique_lock<std::mutex>& lock);

  const EventMemory memory_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::condition_variable built_;
  std::deque<Pending> waiting_;
  std::vector<std::vector<Event>> spare_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace lanescope
