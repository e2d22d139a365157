// The kernels and shapes that a process launches, which launch of each is measured next, and with which set of metrics.
//
// One thread at a time.
#pragma once

#include <cstdint>

#include "agent/core/memory/page_buffer.h"
#include "agent/kernel_counters/choice/launch.h"
#include "collector/channel/kernel_counters.h"

namespace lanescope::agent::kernel_counters {

struct LaunchEntry {
  std::uint64_t key = 0;      // channel::launch_kind(); 0: a free place
  std::uint64_t seen = 0;     // launches
  std::uint64_t due = 0;      // index, from 0, of the next launch that is measured if only some are
  std::uint64_t second = 0;   // and of the second one; 0: there is none
  std::uint64_t counted = 0;  // sets that its group has, one bit each
  std::uint32_t group = 0;    // number of the group of measurements that belong together; 0: none has begun
  std::uint32_t groups = 0;   // number of complete groups
  bool fits = false;          // its name was asked for
  bool was_left_out = false;  // and that was reported
};

class LaunchTable {
 public:
  // The entry of this kernel and shape; a new one has only a key. Null if there is no room: kPlaces kinds of launches are known. O(1) on average.
  LaunchEntry* find(const Launch& launch) noexcept;

  // The number of the next group.
  std::uint32_t new_group() noexcept { return ++groups_; }
  [[nodiscard]] std::uint32_t groups() const noexcept { return groups_; }

  static constexpr std::size_t kPlaces = 1u << 14;

 private:
  PageArray<LaunchEntry> places_;
  std::size_t used_ = 0;
  std::uint32_t groups_ = 0;
};

}  // namespace lanescope::agent::kernel_counters
