// Some events of a lane, in order, with the interface of a lane: those of one kernel name, of one class of copies, or matches of a search.
//
// It refers to the lane's events instead of copying them: less than 7 bytes per event, with prefix sums of busy time and a SummaryPyramid. Immutable and cheap
// to copy: copies share their parts, and so does the subset of a lane that has grown. Any thread may read it.
//
// Queries have the same meaning as those of Lane; indexes count the events of the subset.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/trace/lane.h"
#include "model/trace/storage/ascending_times.h"

namespace lanescope::timeline {

class LaneSubset {
 public:
  LaneSubset() = default;

  [[nodiscard]] EventIndex size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  // Index in the lane of an event of the subset. O(1).
  [[nodiscard]] EventIndex source_index(EventIndex i) const noexcept { return parts_[i / kCapacity]->selected[i % kCapacity]; }
  // The number of events of the subset before this event of the lane. O(log n).
  [[nodiscard]] EventIndex rank(EventIndex source_index) const noexcept;
  [[nodiscard]] const Lane& source() const noexcept { return *source_; }

  [[nodiscard]] Nanoseconds start(EventIndex i) const noexcept { return source_->start(source_index(i)); }
  [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept { return source_->duration(source_index(i)); }
  [[nodiscard]] Nanoseconds end(EventIndex i) const noexcept { return source_->end(source_index(i)); }
  [[nodiscard]] NameId name(EventIndex i) const noexcept { return source_->name(source_index(i)); }
  [[nodiscard]] DetailId detail(EventIndex i) const noexcept { return source_->detail(source_index(i)); }

  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) const noexcept { return source_ ? rank(source_->lower_bound(t)) : 0; }
  // rank() of each. Requires: `source_indexes` ascend.
  void ranks(std::span<const EventIndex> source_indexes, std::span<EventIndex> into) const noexcept;
  [[nodiscard]] std::pair<EventIndex, EventIndex> overlapping(TimeRange window) const noexcept;
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t, EventIndex lower_bound_of_t) const noexcept;
  [[nodiscard]] Nanoseconds busy(TimeRange window) const noexcept;
  void prefetch(EventIndex i) const noexcept {
    if (i < size_) __builtin_prefetch(&parts_[i / kCapacity]->selected[i % kCapacity]);
  }
  [[nodiscard]] LaneSummary summarize(EventIndex first, EventIndex last) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  friend class LaneSplit;
  static constexpr EventIndex kCapacity = 1u << 12;  // small, because the last part of each subset is built again when a recording grows
  static constexpr EventIndex kBlock = SummaryPyramid::kBlock;

  struct Part {
    Part(const Lane& lane, std::vector<EventIndex> events);
    std::vector<EventIndex> selected;
    AscendingTimes busy_before_block;  // one more than there are blocks
    SummaryPyramid summary;
  };
  void append(std::shared_ptr<const Part> part);

  std::shared_ptr<const Lane> source_;
  std::vector<std::shared_ptr<const Part>> parts_;  // all but the last are full
  std::vector<Nanoseconds> busy_before_part_{0};
  EventIndex size_ = 0;
};

// A lane that is split into subsets, in one pass for all of them.
class LaneSplit {
 public:
  // The subset that an event belongs to: a small number, or kNone for none.
  using Key = std::uint32_t;
  using KeyOf = std::function<void(const Lane& lane, EventIndex first, std::span<Key> into)>;  // for consecutive events

  LaneSplit() = default;
  // `before`, if given, is an earlier state of the lane that was split in the same way: O(added events) instead of O(events).
  LaneSplit(std::shared_ptr<const Lane> lane, const KeyOf& key_of, const LaneSplit* before = nullptr);

  [[nodiscard]] const LaneSubset& subset(Key key) const noexcept;  // an empty one if no event has the key
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  class Sorter;
  std::vector<std::pair<Key, LaneSubset>> subsets_;  // by key
  std::shared_ptr<const Lane> lane_;
};

}  // namespace lanescope::timeline
