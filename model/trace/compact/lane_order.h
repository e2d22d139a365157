// Which lane takes the next event of a track, if events come in order. The rule is that of TrackLanes. Internal to model/trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "building/free_lanes.h"

namespace lanescope {

class LaneOrder {
 public:
  // The first lane from `first` on that is free at the start. Requires: starts ascend. O(log lanes).
  std::uint32_t place(std::uint32_t first, Nanoseconds start, Nanoseconds end) {
    std::size_t lane = first;
    while (lane < std::min(near_.size(), kNearLanes) && near_[lane] > start) ++lane;
    if (lane >= kNearLanes) lane = kNearLanes + far_.first_free(lane - kNearLanes, start);
    while (near_.size() <= std::min(lane, kNearLanes - 1)) near_.push_back(kFree);
    for (; lane >= kNearLanes && far_lanes_ <= lane - kNearLanes; ++far_lanes_) far_.set(far_lanes_, kFree);
    if (lane < kNearLanes)
      near_[lane] = end;
    else
      far_.set(lane - kNearLanes, end);
    return static_cast<std::uint32_t>(lane);
  }

 private:
  static constexpr std::size_t kNearLanes = 8;  // that are looked at one by one; further lanes are in the tree
  static constexpr Nanoseconds kFree = std::numeric_limits<Nanoseconds>::min();
  std::vector<Nanoseconds> near_;  // the end of the last event of each lane
  FreeLanes far_;
  std::size_t far_lanes_ = 0;
};

}  // namespace lanescope
