// What is known of any part of a run of events without a look at each event: which name holds most of the time, and the longest event.
//
// An 8-ary pyramid over blocks of 16 events. A node holds the weighted majority (Misra-Gries with one counter) and the longest event of everything
// below it. A node takes 24 bytes, which is less than 2 bytes an event. Nodes of 1,024 events are voted event by event, as the parts of a segment's head
// in a compacted file are (SegmentHead): so a part that is not decoded is summarized as one that is.
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
  static constexpr EventIndex kPart = kBlock * kFanOut * kFanOut;

  SummaryPyramid() = default;
  // Room for the summary of events [0, size), which fill() makes. It lies in `memory`, if that is given and has room. Requires: size > 0.
  explicit SummaryPyramid(EventIndex size, ColumnMemory* memory = nullptr) {
    levels_.emplace_back((size + kBlock - 1) / kBlock, memory);
    while (levels_.back().size() > 1) levels_.emplace_back((levels_.back().size() + kFanOut - 1) / kFanOut, memory);
  }
  // Summarizes events [0, size). O(size).
  template <typename Events>
  SummaryPyramid(const Events& events, EventIndex size, ColumnMemory* memory = nullptr) : SummaryPyramid(size, memory) {
    fill(events, size);
  }

  // Must be called once before summarize(), unless the constructor did it. Requires: there is room for this size. O(size).
  template <typename Events>
  void fill(const Events& events, EventIndex size) noexcept {
    constexpr std::size_t kParts = 2;  // the level of parts
    FixedArray<Node>& level = levels_.front();
    FixedArray<Node>* const parts = levels_.size() > kParts ? &levels_[kParts] : nullptr;
    LaneSummary part;
    for (EventIndex block = 0; block < level.size(); ++block) {
      LaneSummary sum;
      const EventIndex end = std::min(size, (block + 1) * kBlock);
      for (EventIndex i = block * kBlock; i < end; ++i) {
        add_event(events, i, sum, 0);
        add_event(events, i, part, 0);
      }
      level[block] = node_of(sum);
      if (parts == nullptr || (end % kPart != 0 && end != size)) continue;
      (*parts)[(end - 1) / kPart] = node_of(part);
      part = {};
    }
    for (std::size_t height = 1; height < levels_.size(); ++height) {
      if (height == kParts) continue;
      const FixedArray<Node>& below = levels_[height - 1];
      for (std::size_t i = 0; i < levels_[height].size(); ++i) {
        LaneSummary sum;
        for (std::size_t k = i * kFanOut; k < std::min(below.size(), (i + 1) * kFanOut); ++k) add_node(below[k], sum, 0);
        levels_[height][i] = node_of(sum);
      }
    }
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

  // As summarize(), of a part of which there is no pyramid: folds what one would fold. Requires: both indexes lie in the same kPart events, and are not
  // their bounds. O(events).
  template <typename Events>
  static void summarize_within(const Events& events, EventIndex first, EventIndex last, LaneSummary& into, EventIndex offset) noexcept {
    into.count += last - first;
    while (first < last && first % kBlock != 0) add_event(events, first++, into, offset);
    while (first + kBlock <= last) {
      constexpr EventIndex kBlocks = kBlock * kFanOut;
      if (first % kBlocks == 0 && first + kBlocks <= last) {
        LaneSummary of_blocks;
        for (const EventIndex end = first + kBlocks; first < end; first += kBlock) add_node(block_of(events, first), of_blocks, 0);
        add_node(node_of(of_blocks), into, offset);
      } else {
        add_node(block_of(events, first), into, offset);
        first += kBlock;
      }
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

  static Node node_of(const LaneSummary& sum) noexcept { return {sum.dominant, sum.longest, sum.weight, sum.longest_duration}; }
  template <typename Events>
  static Node block_of(const Events& events, EventIndex first) noexcept {
    LaneSummary sum;
    for (EventIndex i = first; i < first + kBlock; ++i) add_event(events, i, sum, 0);
    return node_of(sum);
  }
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
