// Lanes of a compacted file in parts of 1,024 events. LaneInParts is for readers that need few events of most segments, as a picture of the whole does: what
// lies between two borders of pixel columns. Parts that lie there whole are known from the heads of the file, and only the parts that a border cuts are
// decoded. LaneTimes is for readers that need the times of all events.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/trace/compact/lane_frames.h"
#include "model/trace/lane.h"

namespace lanescope {

// A segment of which single parts are decoded. Times in ns since the trace's epoch. Threads: one at a time.
class SegmentParts {
 public:
  static constexpr EventIndex kPart = SegmentHead::kPartEvents;
  using Events = LaneSegmentParts::Events;
  using Times = LaneSegmentParts::Times;

  SegmentParts() = default;
  virtual ~SegmentParts() = default;
  SegmentParts(const SegmentParts&) = delete;
  SegmentParts& operator=(const SegmentParts&) = delete;

  // What is known of each part without reading it.
  [[nodiscard]] virtual std::span<const SegmentHead::Part> heads() const noexcept = 0;
  // Returns false if the part can't be decoded, or is not what its head says; the segment may still be read whole. Requires: part < heads().size(). O(kPart).
  [[nodiscard]] virtual bool decode(std::size_t part, Events& into) const = 0;
  // The same, but only the times.
  [[nodiscard]] virtual bool decode(std::size_t part, Times& into) const = 0;
  // Nothing if it can't be decoded alone. Requires: there is such an event. O(events of the segment) once, then O(kPart).
  [[nodiscard]] virtual std::optional<DetailId> detail(EventIndex event) = 0;
};

// Answers as the Lane does, and with the same values: each query with the meaning that it has there. It is meant for queries in the order of time. It keeps the
// last few segments that it was asked about: up to 4 MB if their events are short.
//
// Segments that are in the cache, or that can't be read in parts, are asked for whole.
//
// Threads: one at a time.
class LaneInParts {
 public:
  // The lane must exist for as long as this does. O(segments).
  explicit LaneInParts(const Lane& lane);

  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) const;
  [[nodiscard]] Nanoseconds start(EventIndex i) const;
  [[nodiscard]] Nanoseconds duration(EventIndex i) const;
  [[nodiscard]] Nanoseconds end(EventIndex i) const;
  [[nodiscard]] NameId name(EventIndex i) const;
  [[nodiscard]] DetailId detail(EventIndex i) const;
  [[nodiscard]] Nanoseconds busy_before(Nanoseconds t, EventIndex lower_bound_of_t) const;
  [[nodiscard]] LaneSummary summarize(EventIndex first, EventIndex last) const;
  // The name of the longest event of those, which summarize() returned last.
  [[nodiscard]] NameId name_of_longest(const LaneSummary& summary) const;
  // A duration that no event near i exceeds, nor that one.
  [[nodiscard]] Nanoseconds longest_around(EventIndex i) const;

 private:
  static constexpr EventIndex kPart = SegmentParts::kPart;
  static constexpr std::size_t kOpen = 4;  // segments: of both borders of a column, of its longest event, and of a border between two segments

  // A part with its events decoded.
  struct Part {
    SegmentParts::Events events;
    std::array<Nanoseconds, kPart / LaneSegment::kBlock> busy_before_block;
    [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept { return events.durations[i]; }
    [[nodiscard]] NameId name(EventIndex i) const noexcept { return events.names[i]; }
    [[nodiscard]] Nanoseconds busy_before(EventIndex i) const noexcept;
  };
  struct Open {
    std::optional<std::size_t> number;         // of the segment
    std::uint64_t used = 0;                    // when it was asked for: the number of questions before
    std::shared_ptr<const LaneSegment> whole;  // null if it is read in parts
    std::unique_ptr<SegmentParts> in_parts;
    std::vector<Nanoseconds> busy_before;      // each part
    std::vector<std::unique_ptr<Part>> parts;  // null: not decoded
  };
  // Where an event is: in a segment, or in a part.
  struct Place {
    const LaneSegment* segment = nullptr;
    const Part* part = nullptr;
    EventIndex index = 0;
  };

  [[nodiscard]] Open& open(std::size_t segment) const;
  // Null if the part can't be decoded; then the segment is there whole.
  [[nodiscard]] const Part* part(Open& segment, std::size_t number) const;
  void read_whole(Open& segment) const;
  [[nodiscard]] Place place(EventIndex i) const;
  // What is known of the part of an event, if that is all; else null.
  [[nodiscard]] const SegmentHead::Part* known_head(EventIndex i) const;
  // Folds events of a segment that is read in parts. Returns false if a part can't be decoded; then some are folded.
  [[nodiscard]] bool summarize(Open& segment, EventIndex first, EventIndex last, LaneSummary& into, EventIndex offset) const;

  const Lane& lane_;
  const class DemandedSegments* demanded_;
  std::vector<Nanoseconds> busy_before_segment_;
  mutable std::array<Open, kOpen> open_;
  mutable std::uint64_t questions_ = 0;
};

// When the events of a lane run, for readers that go through them in the order of time: answers as the Lane does, and with the same values. It keeps one
// segment. If that can be read in parts, it is kept undecoded, with the times of 1,024 events, which takes half of the memory.
//
// Threads: one at a time.
class LaneTimes {
 public:
  // The lane must exist for as long as this does.
  explicit LaneTimes(const Lane& lane);

  // Requires: i < the lane's size. O(1) for events near the last one that was asked for.
  [[nodiscard]] Nanoseconds start(EventIndex i) {
    at(i);
    return whole_ ? whole_->start(i - first_) : times_->starts[i - first_];
  }
  [[nodiscard]] Nanoseconds duration(EventIndex i) {
    at(i);
    return whole_ ? whole_->duration(i - first_) : times_->durations[i - first_];
  }
  [[nodiscard]] Nanoseconds end(EventIndex i);
  [[nodiscard]] EventIndex lower_bound(Nanoseconds t);

  // Events of which nothing was decoded: when the first of them starts, a time at which all of them have ended and no later event has begun, the sum of their
  // durations, and the event behind the last one.
  struct Part {
    Nanoseconds start = 0;
    Nanoseconds until = 0;
    Nanoseconds busy = 0;
    EventIndex end = 0;
  };
  // The part that begins with event i; nothing if none does, or if it is not known without decoding it. O(1) within a segment.
  [[nodiscard]] std::optional<Part> part_from(EventIndex i) {
    if (i % kPart != 0 || demanded_ == nullptr) return std::nullopt;
    return known_part(i);
  }

 private:
  static constexpr EventIndex kPart = SegmentParts::kPart;
  [[nodiscard]] std::optional<Part> known_part(EventIndex i);
  void at(EventIndex i) {
    if (i - first_ >= count_) load(i);  // also if i < first_, because the difference wraps around
  }
  void load(EventIndex i);
  void open(std::size_t segment);
  void read_whole();

  const Lane* lane_;
  const class DemandedSegments* demanded_;
  std::optional<std::size_t> segment_;  // that is open
  std::unique_ptr<SegmentParts> in_parts_;
  std::optional<SegmentTimes> whole_;           // if it is not read in parts
  std::unique_ptr<SegmentParts::Times> times_;  // of a part; null before the first
  EventIndex first_ = 0;                        // of the events that are there, and their number
  EventIndex count_ = 0;
};

}  // namespace lanescope
