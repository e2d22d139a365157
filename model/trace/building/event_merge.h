// Goes through many runs of events, each in order, as through one. Internal to model/trace.
//
// What was gone through is given back at once, and segments stay as small as they are until then: who puts millions of events in order
// needs the memory of those that are left, not of twice as many.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/trace/lane.h"

namespace lanescope {

// Of two that start together the longer comes first, so that calls nest.
[[nodiscard]] inline bool outer_first(const Event& a, const Event& b) noexcept { return a.start != b.start ? a.start < b.start : a.duration > b.duration; }

// Events in the order of outer_first().
class EventRun {
 public:
  EventRun() = default;
  explicit EventRun(std::vector<Event> events) { add(std::move(events)); }

  // Requires, for both: none comes before what the run holds.
  void add(std::vector<Event> events);
  // Those from the one numbered `from` on.
  void add(std::shared_ptr<const LaneSegment> segment, EventIndex from);

  [[nodiscard]] bool empty() const noexcept { return part_ == parts_.size(); }
  // Requires, for both: not empty.
  [[nodiscard]] Event front() const noexcept { return parts_[part_].front(); }
  // Moves events to `taken` until that holds `size`, the run is empty, or the next one is not wanted.
  template <typename IsWanted>
  void take(std::vector<Event>& taken, std::size_t size, IsWanted is_wanted);

 private:
  struct Part {
    std::vector<Event> events;
    std::shared_ptr<const LaneSegment> segment;  // or these
    std::size_t at = 0;
    [[nodiscard]] std::size_t size() const noexcept { return segment ? segment->size() : events.size(); }
    [[nodiscard]] Event front() const noexcept;
  };
  std::vector<Part> parts_;  // none is empty; those in front of `part_` hold nothing any more
  std::size_t part_ = 0;
};

// Calls visit() with all events in order, some at a time; of equal ones those of earlier runs come first. Runs may be empty. O(n log runs).
void merge(std::vector<EventRun> runs, const std::function<void(std::span<const Event>)>& visit);

}  // namespace lanescope
