// Which sets have lanes in common, directly or by way of others: what is read of their lanes serves all of them. Internal to timeline/core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "model/trace/lane.h"

namespace lanescope::timeline {

struct LaneGroup {
  std::vector<std::size_t> sets;  // by their places
  std::set<const Lane*> lanes;    // of all of them
};

// Each set is in one group. O(lanes · groups).
[[nodiscard]] inline std::vector<LaneGroup> groups_by_lanes(std::vector<std::set<const Lane*>> sets) {
  std::vector<LaneGroup> groups;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    LaneGroup group{{set}, std::move(sets[set])};
    std::erase_if(groups, [&](LaneGroup& other) {
      if (std::none_of(other.lanes.begin(), other.lanes.end(), [&](const Lane* lane) { return group.lanes.contains(lane); })) return false;
      group.sets.insert(group.sets.end(), other.sets.begin(), other.sets.end());
      group.lanes.merge(other.lanes);
      return true;
    });
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace lanescope::timeline
