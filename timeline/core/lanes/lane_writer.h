// Writes lanes of computed ranges: gaps, waits.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/trace/lane.h"

namespace lanescope::timeline {

// Takes ranges in order and creates a segment whenever one is full. Requires: they do not overlap.
class LaneWriter {
 public:
  void add(TimeRange range, NameId name, DetailId detail = 0) {
    events_.push_back({range.begin, range.length(), name, 0, detail});
    if (events_.size() == LaneSegment::kCapacity) close();
  }
  Lane take() {
    if (!events_.empty()) close();
    return Lane(std::move(segments_));
  }

 private:
  void close() {
    segments_.push_back(std::make_shared<const LaneSegment>(events_));
    events_.clear();
  }
  std::vector<Event> events_;
  std::vector<std::shared_ptr<const LaneSegment>> segments_;
};

}  // namespace lanescope::timeline
