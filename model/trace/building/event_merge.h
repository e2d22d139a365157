// Merges many runs of events, each of which is in order, into one. Internal to model/trace.
//
// Events that were visited are freed at once, and segments stay compact until then: putting millions of events in order needs the memory of the
// remaining events, not twice the memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/trace/lane.h"

namespace lanescope {

// Of two events that start together the longer comes first, so that calls nest.
[[nodiscard]] inline bool outer_first(const Event& a, const Event& b) noexcept { return a.start != b.start ? a.start < b.start : a.duration > b.duration; }

// Events in the order of outer_first().
class EventRun {
 public:
  EventRun() = default;
  explicit EventRun(std::vector<Event> events) { add(std::move(events)); }

  // Requires, for both: no event comes before those that the run holds.
  void add(std::vector<Event> events);
  // Adds the events of the segment from number `from` on.
  void add(std::shared_ptr<const LaneSegment> segment, EventIndex from);

  [[nodiscard]] bool empty() const noexcept { return part_ == parts_.size(); }
  // Requires, for both: not empty.
  [[nodiscard]] Event front() const noexcept { return parts_[part_].front(); }
  // Moves events to `taken` until that holds `size`, the run is empty, or the next event is not wanted.
  template <typename IsWanted>
  void take(std::vector<Event>& taken, std::size_t size, IsWanted is_wanted);

 private:
  struct Part {
    std::vector<Event> events;
    std::shared_ptr<const LaneSegment> segment;  // or this
    std::size_t at = 0;
    [[nodiscard]] std::size_t size() const noexcept { return segment ? segment->size() : events.size(); }
    [[nodiscard]] Event front() const noexcept;
  };
  std::vector<Part> parts_;  // none is empty; parts in front of `part_` hold nothing any more
  std::size_t part_ = 0;
};

// Calls visit() with all events in order, some at a time; for equal events, those of earlier runs come first. Runs may be empty. O(n log runs).
void merge(std::vector<EventRun> runs, const std::function<void(std::span<const Event>)>& visit);

}  // namespace lanescope
