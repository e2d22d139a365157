// What is known of any part of a run of events without a look at each event: which name holds most of the time, and the longest event.
//
// An 8-ary pyramid over blocks of 16 events. A node holds the weighted majority (Misra-Gries with one counter) and the longest event of everything
// below it. A node takes 24 bytes, which is less than 2 bytes an event.
//
// It does not keep the events: the caller passes them again as an object with duration(EventIndex) and name(EventIndex).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "model/trace/storage/fixed_array.h"
#include "model/trace/types.h"

namespace lanescope {

struct LaneSummary {
  EventIndex count = 0;
  NameId dominant = 0;     // the name that holds most of the time, if one name holds more than half; otherwise a candidate
  Nanoseconds weight = 0;  // at least the surplus of `dominant` over all others together: its time is at most half of weight plus total
  EventIndex longest = 0;  // index of the longest event, the first of several
  Nanoseconds longest_duration = -1;

  // Adds one candidate of a weighted majority vote to the running one. Requires: no weight is negative.
  void vote(NameId name, Nanoseconds candidate_weight) noexcept {
    // Without a branch, because it can't be predicted which of several names comes next. A weight below 0 belongs to the other name.
    const Nanoseconds against = name == dominant ? 0 : -1;
    const Nanoseconds sum = weight + ((candidate_weight ^ against) - against);
    const Nanoseconds is_other = sum >> 63;
    dominant ^= (dominant ^ name) & static_cast<NameId>(is_other);
    weight = (sum ^ is_other) - is_other;
  }
  void consider_longest(EventIndex index, Nanoseconds duration) noexcept {
    const bool is_longer = duration > longest_duration;
    longest = is_longer ? index : longest;
    longest_duration = is_longer ? duration : longest_duration;
  }
};

class SummaryPyramid {
 public:
  static constexpr EventIndex kBlock = 16;
  static constexpr EventIndex kFanOut = 8;

  SummaryPyramid() = default;
  // Summarizes events [0, size). O(size). It lies in `memory`, if that is given and has room.
  template <typename Events>
  SummaryPyramid(const Events& events, EventIndex size, ColumnMemory* memory = nullptr) {
    FixedArray<Node> level((size + kBlock - 1) / kBlock, memory);
    for (EventIndex block = 0; block < level.size(); ++block) {
      LaneSummary sum;
      const EventIndex end = std::min(size, (block + 1) * kBlock);
      for (EventIndex i = block * kBlock; i < end; ++i) add_event(events, i, sum, 0);
      level[block] = {sum.dominant, sum.longest, sum.weight, sum.longest_duration};
    }
    while (level.size() > 1) {
      FixedArray<Node> above((level.size() + kFanOut - 1) / kFanOut, memory);
      for (std::size_t i = 0; i < above.size(); ++i) {
        LaneSummary sum;
        for (std::size_t k = i * kFanOut; k < std::min(level.size(), (i + 1) * kFanOut); ++k) add_node(level[k], sum, 0);
        above[i] = {sum.dominant, sum.longest, sum.weight, sum.longest_duration};
      }
      levels_.push_back(std::move(level));
      level = std::move(above);
    }
    levels_.push_back(std::move(level));
  }

  // Folds events [first, last) into `into`, with their indexes raised by `offset`. O(log size).
  template <typename Events>
  void summarize(const Events& events, EventIndex first, EventIndex last, LaneSummary& into, EventIndex offset) const noexcept {
    into.count += last - first;
    while (first < last && first % kBlock != 0) add_event(events, first++, into, offset);
    // Climb: take the largest aligned node that fits, from the left.
    while (first + kBlock <= last) {
      EventIndex span = kBlock;
      std::size_t height = 0;
      while (height + 1 < levels_.size() && first % (span * kFanOut) == 0 && first + span * kFanOut <= last) {
        span *= kFanOut;
        ++height;
      }
      add_node(levels_[height][first / span], into, offset);
      first += span;
    }
    while (first < last) add_event(events, first++, into, offset);
  }

  // Prefetches into the cache what summaries that start or end at an event will read.
  void prefetch(EventIndex i) const noexcept {
    std::size_t node = i / kBlock;
    for (const auto& level : levels_) {
      if (level.size() <= kFanOut) break;  // small ones stay in the cache anyway
      __builtin_prefetch(&level[std::min(node, level.size() - 1)]);
      node /= kFanOut;
    }
  }

  // Bytes on the heap.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto& level : levels_) bytes += level.memory_bytes();
    return bytes;
  }

 private:
  struct Node {
    NameId name = 0;  // candidate for the majority
    EventIndex longest = 0;
    Nanoseconds weight = 0;  // as in LaneSummary
    Nanoseconds longest_duration = -1;
  };

  template <typename Events>
  static void add_event(const Events& events, EventIndex i, LaneSummary& into, EventIndex offset) noexcept {
    const Nanoseconds duration = events.duration(i);
    into.vote(events.name(i), duration);
    into.consider_longest(offset + i, duration);
  }
  static void add_node(const Node& node, LaneSummary& into, EventIndex offset) noexcept {
    into.vote(node.name, node.weight);
    into.consider_longest(offset + node.longest, node.longest_duration);
  }

  std::vector<FixedArray<Node>> levels_;  // levels_[0]: one node a block; each next level covers kFanOut nodes of the one below
};

}  // namespace lanescope
