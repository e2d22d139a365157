// Time by kernel name, by class of memory operation or by detail, of each segment of a lane: what the shares of rows are made of, and which details
// there are. A lane is asked about in one of these ways only.
//
// Segments never change and are shared between the snapshots of a recording, so each is summed once, however many snapshots there are. A
// copy shares what is known and goes on by itself. O(segments).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::timeline {

// One thread at a time.
class SegmentSums {
 public:
  enum class By : std::uint8_t { kName, kMemoryClass, kDetail };
  struct Sum {
    std::uint32_t key = 0;  // NameId, MemoryClass or DetailId
    Nanoseconds total = 0;
  };
  // For each name, class or detail that occurs in the lane, the sum of its events' durations; by key. O(segments · names), and O(events), on all
  // cores, of segments that were not asked for before.
  [[nodiscard]] std::vector<Sum> of_lane(const Trace& trace, LaneId lane, By by);
  // Whether segments that are not decoded are left out where nothing is known of them: for threads that must not wait for the disk.
  enum class Decoding : std::uint8_t { kMay, kMayNot };
  void set_decoding(Decoding decoding) noexcept { decoding_ = decoding; }
  // Forgets segments that were not asked for since the last call.
  void forget_unused();

 private:
  struct Entry {
    std::shared_ptr<const LaneSegment> segment;  // kept where its lane holds it, so that no other gets its address
    std::shared_ptr<const std::vector<Sum>> sums;
    bool used = false;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;  // by the identities of segments
  Decoding decoding_ = Decoding::kMay;
};

}  // namespace lanescope::timeline
