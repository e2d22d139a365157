// Time by kernel name, by class of memory operation or by detail, for each segment of a lane: the data for the shares of rows, and the list of details. A lane
// must be queried in only one of these ways.
//
// Segments never change and are shared between the snapshots of a recording, so each is summed once, however many snapshots there are. A copy shares the known
// sums and continues independently. Copying is O(segments).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::timeline {

// Threads: one at a time.
class SegmentSums {
 public:
  enum class By : std::uint8_t { kName, kMemoryClass, kDetail };
  struct Sum {
    std::uint32_t key = 0;  // NameId, MemoryClass or DetailId
    Nanoseconds total = 0;
  };
  // For each name, class or detail in the lane, the sum of the durations of its events; by key. O(segments · names), and for new segments O(events), on all
  // cores.
  [[nodiscard]] std::vector<Sum> of_lane(const Trace& trace, LaneId lane, By by);
  // kMayNot: segments that are not decoded and have no known sums are left out, for threads that must not wait for the disk.
  enum class Decoding : std::uint8_t { kMay, kMayNot };
  void set_decoding(Decoding decoding) noexcept { decoding_ = decoding; }
  // Forgets segments that were not queried since the last call.
  void forget_unused();

 private:
  struct Entry {
    std::shared_ptr<const LaneSegment> segment;  // kept if its lane holds it, so that no other segment gets its address
    std::shared_ptr<const std::vector<Sum>> sums;
    bool used = false;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;  // by the identity of the segment
  Decoding decoding_ = Decoding::kMay;
};

}  // namespace lanescope::timeline
