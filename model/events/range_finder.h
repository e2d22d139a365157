// The innermost NVTX ranges around many events at once. Internal to model/events.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "model/events/event_values.h"

namespace lanescope {

// Finds what EventValues::enclosing_range() does.
//
// Threads: any number may find at once. The values must outlive it.
class RangeFinder {
 public:
  explicit RangeFinder(const EventValues& values);
  // ranges[i] becomes the range around events[i], invalid where there is none. Where the events lie near each other, O((events + events of ranges
  // between them) · log lanes), however deep ranges nest. Requires: equal sizes.
  void find(std::span<const EventRef> events, std::span<EventRef> ranges) const;

 private:
  // An event of a thread, for which a range is looked for.
  struct Asked {
    std::size_t position;  // in `events`
    LaneId lane;           // of the event, or of the call that launched it
    Nanoseconds start;
    Nanoseconds until;  // a range around it lasts at least so long
  };
  void find_on_thread(const std::vector<const Track*>& tracks, std::vector<Asked>& asked, std::span<const EventRef> events, std::span<EventRef> ranges) const;

  const EventValues& values_;
  std::unordered_map<ThreadId, std::vector<const Track*>> ranges_of_thread_;
};

}  // namespace lanescope
