// Merges the events of several lanes in order of time. Internal to model/export.
#pragma once

#include <queue>
#include <span>
#include <vector>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// By start, outer before inner, then by the order of the lanes. next() is O(log lanes); O(lanes) memory.
class LaneMerge {
 public:
  LaneMerge(const Trace& trace, std::span<const LaneId> lanes, const ExportSelection& selection);

  [[nodiscard]] bool done() const noexcept { return heads_.empty(); }
  EventRef next();  // requires: not done

 private:
  struct Head {
    Nanoseconds start;
    Nanoseconds duration;
    EventRef event;
    EventIndex end;  // one behind the lane's last selected event
    [[nodiscard]] bool is_behind(const Head& other) const noexcept {
      if (start != other.start) return start > other.start;
      if (duration != other.duration) return duration < other.duration;
      return event.lane > other.event.lane;
    }
  };
  struct IsBehind {
    bool operator()(const Head& a, const Head& b) const noexcept { return a.is_behind(b); }
  };
  [[nodiscard]] Head head(EventRef event, EventIndex end) const;

  const Trace* trace_;
  std::priority_queue<Head, std::vector<Head>, IsBehind> heads_;
};

}  // namespace lanescope::exporters
