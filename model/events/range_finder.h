// The innermost NVTX ranges around many events at once. Internal to model/events.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "model/events/event_values.h"

namespace lanescope {

// Finds the same ranges as EventValues::enclosing_range().
//
// Threads: any number may find at once. The values must outlive it.
class RangeFinder {
 public:
  explicit RangeFinder(const EventValues& values);
  // Sets ranges[i] to the range around events[i], invalid if there is none. If the events lie near each other, O((events + events of ranges between them) · log
  // lanes), however deep ranges nest. Requires: equal sizes.
  void find(std::span<const EventRef> events, std::span<EventRef> ranges) const;

 private:
  // An event of a thread whose range is needed.
  struct Asked {
    std::size_t position;  // in `events`
    LaneId lane;           // of the event, or of the call that launched it
    Nanoseconds start;
    Nanoseconds until;  // a range around it lasts at least until then
  };
  void find_on_thread(const std::vector<const Track*>& tracks, std::vector<Asked>& asked, std::span<const EventRef> events, std::span<EventRef> ranges) const;

  const EventValues& values_;
  std::unordered_map<ThreadId, std::vector<const Track*>> ranges_of_thread_;
};

}  // namespace lanescope
