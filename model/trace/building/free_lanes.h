// Which lanes of a track are free at a time, for many lanes. Internal to model/trace.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

#include "model/trace/types.h"

namespace lanescope {

// The earliest end in each run of lanes, as a binary tree.
class FreeLanes {
 public:
  // The first lane from `first` on that ends at or before `start`; one after all lanes if there is none. O(log lanes).
  [[nodiscard]] std::size_t first_free(std::size_t first, Nanoseconds start) const noexcept {
    if (first >= lanes_) return lanes_;
    std::size_t node = capacity_ + first;
    // First up, until a subtree to the right has a free lane; then down, to its leftmost free lane.
    while (ends_[node] > start) {
      while ((node & 1) != 0) node /= 2;
      if (node == 0) return lanes_;  // past the right edge of the tree
      ++node;
    }
    while (node < capacity_) node = ends_[2 * node] <= start ? 2 * node : 2 * node + 1;
    return node - capacity_;
  }

  // Sets when the last event of a lane ends. Lanes are added one after the other. O(log lanes).
  void set(std::size_t lane, Nanoseconds end) {
    if (lane >= lanes_) grow(lane + 1);
    std::size_t node = capacity_ + lane;
    ends_[node] = end;
    for (node /= 2; node > 0; node /= 2) ends_[node] = std::min(ends_[2 * node], ends_[2 * node + 1]);
  }

 private:
  static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

  void grow(std::size_t lanes) {
    if (lanes > capacity_) {
      const std::size_t capacity = std::bit_ceil(lanes);
      std::vector<Nanoseconds> ends(2 * capacity, kNever);
      for (std::size_t lane = 0; lane < lanes_; ++lane) ends[capacity + lane] = ends_[capacity_ + lane];
      for (std::size_t node = capacity - 1; node > 0; --node) ends[node] = std::min(ends[2 * node], ends[2 * node + 1]);
      ends_ = std::move(ends);
      capacity_ = capacity;
    }
    lanes_ = lanes;
  }

  std::size_t lanes_ = 0;
  std::size_t capacity_ = 0;       // a power of two, or 0
  std::vector<Nanoseconds> ends_;  // node 1 is the root, capacity_ + lane the leaf of a lane
};

}  // namespace lanescope
