// A lane: events that never overlap, ordered by start. One row of a timeline shows one lane.
//
// Overlap is excluded when the lane is built (see TraceBuilder), so an event can hide no other, and "what runs at time t" has at most one answer. Times
// are ns since the trace's epoch, half-open: [start, end). An event with duration 0 covers nothing.
//
// A lane is immutable and cheap to copy: it shares its segments. Any number of threads may read it. A recording that grows publishes new lanes, which
// share all full segments with the old ones.
//
// A lane of a compacted file holds no segments: each is decoded when one of its events is asked for, and that may wait for the disk. The costs O(1) and
// O(log n) below apply while segments are in memory (demanded_segments.h says how they stay there). Full segments of a growing recording may lie in a
// temporary file if there is not enough memory for all (scratch_memory.h). They are read like all others, and that may wait for the disk.
//
// Memory: 8 bytes an event for start and duration, 12 if 65,536 in a row take more than four seconds; 2 to 8 for name, correlation and detail (see
// PackedColumn), 12 if they vary at random; and slightly over 2 for the index: prefix sums of busy time over blocks of 16 events, and a SummaryPyramid.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/trace/storage/ascending_times.h"
#include "model/trace/storage/fixed_array.h"
#include "model/trace/storage/packed_column.h"
#include "model/trace/storage/summary_pyramid.h"
#include "model/trace/types.h"

namespace lanescope {

class ScratchBlock;

// Columns of consecutive events, equally many in each.
struct EventColumns {
  std::vector<Nanoseconds> starts, durations;
  std::vector<NameId> names;
  std::vector<std::uint32_t> correlations;
  std::vector<DetailId> details;
};

// A run of up to kCapacity consecutive events with its index. Every segment of a lane but the last is full.
class LaneSegment {
 public:
  static constexpr EventIndex kCapacity = 1u << 16;
  static constexpr EventIndex kBlock = SummaryPyramid::kBlock;

  // Requires: 0 < events.size() <= kCapacity, sorted by start, not overlapping.
  explicit LaneSegment(std::span<const Event> events) : LaneSegment(events, nullptr) {}
  // In a block that holds nothing else. The block has room for most_bytes(events.size()); columns for which it has no room go to the heap.
  LaneSegment(std::span<const Event> events, std::shared_ptr<ScratchBlock> block);
  // Of columns: faster than of events. Its pyramid, which is only needed for drawing, is made when it is first asked for. Requires: as above.
  explicit LaneSegment(const EventColumns& events);
  [[nodiscard]] static constexpr std::size_t most_bytes(std::size_t events) noexcept { return 29 * events + 4'096; }
  // A segment that keeps only the times, and may be asked only for them: for SegmentTimes. Requires: as above, and as many durations as starts.
  [[nodiscard]] static std::shared_ptr<const LaneSegment> of_times(std::span<const Nanoseconds> starts, std::span<const Nanoseconds> durations);

  [[nodiscard]] EventIndex size() const noexcept { return static_cast<EventIndex>(durations_.size()); }
  [[nodiscard]] Nanoseconds start(EventIndex i) const noexcept { return starts_[i]; }
  [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept {
    return durations_[i] != kLong ? static_cast<Nanoseconds>(durations_[i]) : long_duration(i);
  }
  [[nodiscard]] NameId name(EventIndex i) const noexcept { return names_[i]; }
  [[nodiscard]] std::uint32_t correlation(EventIndex i) const noexcept { return correlations_[i]; }
  [[nodiscard]] DetailId detail(EventIndex i) const noexcept { return details_[i]; }

  [[nodiscard]] Nanoseconds busy_total() const noexcept { return busy_before_block_.back(); }
  // Sum of the durations of events [0, i). O(1): at most kBlock additions.
  [[nodiscard]] Nanoseconds busy_before(EventIndex i) const noexcept;
  // First event with start >= t; size() if none. O(log n).
  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) const noexcept;
  // lower_bound() of each time, plus `segment_offset`. Requires: `times` ascend. Searches several at once, so that cache misses overlap.
  void lower_bounds(std::span<const Nanoseconds> times, std::span<EventIndex> into, EventIndex segment_offset) const noexcept;
  // Folds events [first, last) into `into`. O(log n), but O(n) if the pyramid has to be made.
  void summarize(EventIndex first, EventIndex last, LaneSummary& into, EventIndex segment_offset) const noexcept {
    if (summary_waits_) std::call_once(summary_is_made_, [this] { summary_.fill(*this, size()); });
    summary_.summarize(*this, first, last, into, segment_offset);
  }
  // Prefetches into the cache what queries around an event will read. Requires: i < size().
  void prefetch(EventIndex i) const noexcept {
    starts_.prefetch(i);
    __builtin_prefetch(&durations_[i]);
    names_.prefetch(i);
    __builtin_prefetch(&busy_before_block_[i / kBlock]);
    summary_.prefetch(i);
  }
  // How many events from the first on are equal in both, in start, duration, name and details. O(1) for a segment and itself.
  [[nodiscard]] EventIndex common_prefix(const LaneSegment& other) const noexcept;

  [[nodiscard]] std::uint32_t smallest_correlation() const noexcept { return smallest_correlation_; }
  [[nodiscard]] std::uint32_t largest_correlation() const noexcept { return largest_correlation_; }
  // First event at or after `from` with this correlation id; size() if none. O(log n) if ids ascend, as they nearly always do.
  [[nodiscard]] EventIndex find_correlation(std::uint32_t correlation, EventIndex from) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  [[nodiscard]] EventMemory memory() const noexcept { return block_ ? EventMemory::kBudget : EventMemory::kAll; }
  // True if it lies in a temporary file instead of memory. O(1).
  [[nodiscard]] bool is_in_file() const noexcept;

 private:
  LaneSegment() = default;
  static constexpr std::uint32_t kLong = 0xffffffff;  // the duration does not fit and is in long_durations_
  [[nodiscard]] Nanoseconds long_duration(EventIndex i) const noexcept;

  std::shared_ptr<ScratchBlock> block_;  // in which the columns lie; null: on the heap
  AscendingTimes starts_;
  FixedArray<std::uint32_t> durations_;
  PackedColumn names_;
  PackedColumn correlations_;
  PackedColumn details_;
  std::vector<std::pair<EventIndex, Nanoseconds>> long_durations_;  // sorted by index
  FixedArray<Nanoseconds> busy_before_block_;                       // one more than there are blocks
  mutable SummaryPyramid summary_;
  mutable std::once_flag summary_is_made_;
  bool summary_waits_ = false;  // until somebody asks for it
  std::uint32_t smallest_correlation_ = 0;
  std::uint32_t largest_correlation_ = 0;
  bool correlations_ascend_ = true;
};

// When the events of a segment run, and nothing else of them. The segment stays in memory for as long as this object exists.
class SegmentTimes {
 public:
  explicit SegmentTimes(std::shared_ptr<const LaneSegment> segment) : segment_(std::move(segment)) {}
  [[nodiscard]] EventIndex size() const noexcept { return segment_->size(); }
  [[nodiscard]] Nanoseconds start(EventIndex i) const noexcept { return segment_->start(i); }
  [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept { return segment_->duration(i); }
  [[nodiscard]] Nanoseconds end(EventIndex i) const noexcept { return start(i) + duration(i); }
  // First event with start >= t; size() if none. O(log n).
  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) const noexcept { return segment_->lower_bound(t); }

 private:
  std::shared_ptr<const LaneSegment> segment_;
};

class DemandedSegments;

// Ids of events lie between these bounds; 0 is included if some events have no id.
struct CorrelationBounds {
  std::uint32_t least = 0;
  std::uint32_t greatest = 0;
};

class Lane {
 public:
  Lane() = default;
  // Requires: every segment but the last is full; sorted by start across segments, not overlapping.
  explicit Lane(std::vector<std::shared_ptr<const LaneSegment>> segments);
  // A lane of segments that are decoded when they are needed.
  explicit Lane(std::shared_ptr<const DemandedSegments> segments);

  [[nodiscard]] EventIndex size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // Requires, for each: index < size(). O(1).
  [[nodiscard]] Nanoseconds start(EventIndex i) const noexcept { return of(i).start(i % LaneSegment::kCapacity); }
  [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept { return of(i).duration(i % LaneSegment::kCapacity); }
  [[nodiscard]] Nanoseconds end(EventIndex i) const noexcept {
    const LaneSegment& segment = of(i);
    return segment.start(i % LaneSegment::kCapacity) + segment.duration(i % LaneSegment::kCapacity);
  }
  [[nodiscard]] NameId name(EventIndex i) const noexcept { return of(i).name(i % LaneSegment::kCapacity); }
  [[nodiscard]] std::uint32_t correlation(EventIndex i) const noexcept { return of(i).correlation(i % LaneSegment::kCapacity); }
  [[nodiscard]] DetailId detail(EventIndex i) const noexcept { return of(i).detail(i % LaneSegment::kCapacity); }
  [[nodiscard]] Event event(EventIndex i) const noexcept;

  // From the first start to the last end; empty if the lane is. Events do not overlap, so the last event ends last. O(1).
  [[nodiscard]] TimeRange extent() const noexcept;

  // The event that covers t, if any. O(log n).
  [[nodiscard]] std::optional<EventIndex> at(Nanoseconds t) const noexcept;
  // First event with start >= t; size() if none. O(log n).
  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) const noexcept;
  // lower_bound() of each time. Requires: `times` ascend and are as many as `into`. Faster than single calls.
  void lower_bounds(std::span<const Nanoseconds> times, std::span<EventIndex> into) const noexcept;
  // Events that overlap the window, or start in it: [first, last). O(log n).
  [[nodiscard]] std::pair<EventIndex, EventIndex> overlapping(TimeRange window) const noexcept;

  // Time before t that events cover: exact, not sampled. O(log n). Monotonic in t, so differences between neighbouring pixels add up.
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t) const noexcept;
  // The same if lower_bound(t) is known already. O(1).
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t, EventIndex lower_bound_of_t) const noexcept;
  // Time within the window that events cover. O(log n).
  [[nodiscard]] Nanoseconds busy(TimeRange window) const noexcept { return busy_before(window.end) - busy_before(window.begin); }

  // Prefetches into the processor's cache what queries around an event will read. Does nothing if there is no such event, or it is not decoded. O(1).
  void prefetch(EventIndex i) const noexcept {
    if (i >= size_) return;
    if (const LaneSegment* held = segments_[i / LaneSegment::kCapacity].get()) held->prefetch(i % LaneSegment::kCapacity);
  }
  // O(log n).
  [[nodiscard]] LaneSummary summarize(EventIndex first, EventIndex last) const noexcept;

  // First event at or after `from` with this correlation id; size() if none. O(segments + log n).
  [[nodiscard]] EventIndex find_correlation(std::uint32_t correlation, EventIndex from = 0) const noexcept;

  // How many events from the first on are equal in both: nearly all, if one lane is a later state of the other. O(segments), and O(events) for the last
  // segment that they share.
  [[nodiscard]] EventIndex common_prefix(const Lane& other) const noexcept;

  // Segments, which hold kCapacity events each, except the last. Requires, for each: s < segment_count().
  [[nodiscard]] std::size_t segment_count() const noexcept { return segments_.size(); }
  // The segment, which stays in memory for as long as the caller holds it. For callers that go through many events: this is faster than asking for each
  // event.
  [[nodiscard]] std::shared_ptr<const LaneSegment> segment(std::size_t s) const noexcept;
  // The same, but only the times: if the segment must be decoded, this takes half the time and two thirds of the memory.
  [[nodiscard]] SegmentTimes times(std::size_t s) const noexcept;
  // What is known of a segment without decoding it: its first start, its last end, and the bounds of its correlation ids. O(1).
  [[nodiscard]] Nanoseconds segment_start(std::size_t s) const noexcept;
  [[nodiscard]] Nanoseconds segment_end(std::size_t s) const noexcept;
  [[nodiscard]] CorrelationBounds segment_correlations(std::size_t s) const noexcept;
  // The first segment with an event that starts at t or later; segment_count() if none. O(log segments).
  [[nodiscard]] std::size_t segment_at(Nanoseconds t) const noexcept;
  // A number that no other segment has while this one exists. It is the same in lanes that share the segment. O(1).
  [[nodiscard]] std::uint64_t segment_identity(std::size_t s) const noexcept;
  // True if its segments stay in memory; false if they are decoded when they are needed. O(1).
  [[nodiscard]] bool holds_segments() const noexcept { return demanded_ == nullptr; }
  // The first: whether full segments that it holds may go to a temporary file. O(1). The second: whether some have. O(segments).
  [[nodiscard]] EventMemory memory() const noexcept {
    return !segments_.empty() && segments_.front() != nullptr ? segments_.front()->memory() : EventMemory::kAll;
  }
  [[nodiscard]] bool is_spilled() const noexcept;

  // Bytes that the lane holds itself.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  // The segment of an event. It stays until this thread asks for an event of another segment.
  [[nodiscard]] const LaneSegment& of(EventIndex i) const noexcept { return numbered(i / LaneSegment::kCapacity); }
  [[nodiscard]] const LaneSegment& numbered(std::size_t s) const noexcept {
    const LaneSegment* held = segments_[s].get();
    return held != nullptr ? *held : demanded(s);
  }
  [[nodiscard]] const LaneSegment& demanded(std::size_t s) const noexcept;
  [[nodiscard]] Nanoseconds last_start(std::size_t s) const noexcept;
  [[nodiscard]] EventIndex segment_size(std::size_t s) const noexcept {
    return static_cast<EventIndex>(std::min<std::size_t>(LaneSegment::kCapacity, size_ - s * LaneSegment::kCapacity));
  }

  std::vector<std::shared_ptr<const LaneSegment>> segments_;  // null: decoded when needed
  std::vector<Nanoseconds> busy_before_segment_;
  std::shared_ptr<const DemandedSegments> demanded_;  // the segments that are null above; null if there are none
  EventIndex size_ = 0;
};

}  // namespace lanescope
