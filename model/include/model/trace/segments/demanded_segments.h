// Segments of a lane that are decoded when they are needed, and the cache in which they stay (docs/adr/0019-segments-on-demand.md).
//
// Reading an event pins its segment: each thread keeps the last few segments that it read, and finds them there without a lock. So a segment that the
// cache gives up stays for as long as somebody reads it. Pins end with the thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/trace/lane.h"

namespace lanescope {

class LaneSegmentParts;
class SegmentParts;
class Trace;

// The events of one name in a segment: their number, the sum of their durations, the shortest and the longest duration, in ns.
struct NameTime {
  NameId name = 0;
  std::uint32_t count = 0;
  Nanoseconds total = 0;
  Nanoseconds least = 0;
  Nanoseconds greatest = 0;
};

// What is known of a segment without decoding it. Times in ns since the trace's epoch.
struct SegmentBounds {
  EventIndex count = 0;
  Nanoseconds first_start = 0;
  Nanoseconds last_start = 0;
  Nanoseconds end = 0;   // end of the last event
  Nanoseconds busy = 0;  // sum of durations
  CorrelationBounds correlations;
  std::vector<NameTime> names;  // all that occur, each once; empty if they are not known
  Nanoseconds longest = 0;      // no event lasts longer
};

// Threads: any number may call any function at once.
class DemandedSegments : public std::enable_shared_from_this<DemandedSegments> {
 public:
  // Requires: bounds are in order, and do not overlap; every segment but the last has LaneSegment::kCapacity events, the last at least one. `outline`:
  // what can be drawn of the lane without decoding anything. It has an event for each part of a segment (up to 1,024 events). This event starts with
  // the part, lasts as long as the part's events together, and has the name that holds most of that time, or none. It has no details. `origin`: the segments
  // from which these are made, segment by segment, which exist for as long as these do; null if these are read themselves.
  DemandedSegments(std::vector<SegmentBounds> bounds, Lane outline, const DemandedSegments* origin = nullptr);
  virtual ~DemandedSegments();
  DemandedSegments(const DemandedSegments&) = delete;
  DemandedSegments& operator=(const DemandedSegments&) = delete;

  [[nodiscard]] std::span<const SegmentBounds> bounds() const noexcept { return bounds_; }
  [[nodiscard]] const Lane& outline() const noexcept { return outline_; }
  // A number that no other segment of this process ever has.
  [[nodiscard]] std::uint64_t identity(std::size_t s) const noexcept { return first_identity_ + s; }

  // The segment, which stays until this thread asks for another one, of any lane. O(1) for the last few segments, or if it is in the cache. Otherwise
  // O(events): it is read and decoded, which may wait for the disk.
  //
  // A segment that can't be read is replaced by as many events without a name, with the same bounds and sum, and the cache knows the reason.
  [[nodiscard]] const LaneSegment& pinned(std::size_t s) const noexcept;
  // As pinned(), but the segment stays for as long as the caller holds it.
  [[nodiscard]] std::shared_ptr<const LaneSegment> held(std::size_t s) const noexcept;
  // As held(), but only the times may be asked for (SegmentTimes).
  [[nodiscard]] std::shared_ptr<const LaneSegment> held_times(std::size_t s) const noexcept;
  // The segment, of which single parts are decoded for this caller (LaneInParts), while the cache keeps it undecoded. Null if the caller should ask for it
  // whole: because the cache has it decoded, or it has few events, or can't be read in parts. The lane must exist for as long as the result does.
  [[nodiscard]] std::unique_ptr<SegmentParts> parts(std::size_t s) const;
  // As parts(), for callers that only ask for times: null also if the cache has these.
  [[nodiscard]] std::unique_ptr<SegmentParts> times_in_parts(std::size_t s) const;
  // As held(), but read again and not put into the cache: for callers that make another segment of it.
  [[nodiscard]] std::shared_ptr<const LaneSegment> read_apart(std::size_t s) const {
    std::shared_ptr<const LaneSegment> segment = read(s);
    return segment ? segment : substitute(s);
  }
  // As read_apart(), but only the times; null if they can't be read alone.
  [[nodiscard]] std::shared_ptr<const LaneSegment> read_times_apart(std::size_t s) const { return is_unreadable(s) ? nullptr : read_times(s); }
  // As parts(), whatever the cache has; null if it can't be read in parts.
  [[nodiscard]] std::unique_ptr<SegmentParts> read_parts_apart(std::size_t s) const;
  // True if a segment was replaced so far; if one, or this one, was replaced because it can't be read; if one was replaced for lack of memory. Any
  // thread.
  [[nodiscard]] bool has_substitutes() const noexcept;
  [[nodiscard]] bool has_unreadable() const noexcept;
  [[nodiscard]] bool is_unreadable(std::size_t s) const noexcept;
  [[nodiscard]] bool lacked_memory() const noexcept;
  // The sentence that the cache was told about segments that can't be read: whose events they are, and what to do.
  [[nodiscard]] std::string damage_text() const { return origin_ != nullptr ? origin_->damage_text() : own_damage_text(); }

 private:
  friend class SegmentCache;
  enum class Reason { kUnreadable, kNoMemory };
  [[nodiscard]] virtual std::string own_damage_text() const;
  // Reads it. Returns null if that is not possible; the cache was told why. O(events).
  [[nodiscard]] virtual std::shared_ptr<const LaneSegment> read(std::size_t s) const = 0;
  // As read(), but only the times. Returns null if that is not possible; read() may still be possible.
  [[nodiscard]] virtual std::shared_ptr<const LaneSegment> read_times(std::size_t) const { return nullptr; }
  // As read(), but in parts (SegmentParts). Returns null if that is not possible; read() may still be possible.
  [[nodiscard]] virtual std::unique_ptr<SegmentParts> read_parts(std::size_t s) const;
  [[nodiscard]] bool may_be_read_in_parts(std::size_t s) const noexcept;
  // The replacement for a segment that can't be read.
  [[nodiscard]] std::shared_ptr<const LaneSegment> substitute(std::size_t s, Reason reason = Reason::kUnreadable) const;

  std::vector<SegmentBounds> bounds_;
  Lane outline_;
  const DemandedSegments* origin_;
  std::uint64_t first_identity_;
  mutable std::atomic<bool> has_unreadable_{false}, lacked_memory_{false};
  mutable std::vector<std::atomic<bool>> unreadable_;  // by segment
};

// The segments that a lane demands, valid for as long as the lane exists; null if the lane holds its segments. O(log lanes). Any thread.
[[nodiscard]] const DemandedSegments* demanded_segments(const Lane& lane) noexcept;
// The outline of a lane. For a lane that holds its segments it is the lane itself.
[[nodiscard]] const Lane& outline_of(const Lane& lane) noexcept;
// Sum of all durations of a lane, in ns, without decoding anything. O(segments).
[[nodiscard]] Nanoseconds busy_total(const Lane& lane) noexcept;
// Calls visit(i) for each event of the lane whose name is wanted, in order. Segments that are known to have none are not decoded. O(events).
template <typename Wanted, typename Visit>
void for_each_named(const Lane& lane, Wanted&& wanted, Visit&& visit) {
  const DemandedSegments* const demanded = demanded_segments(lane);
  for (std::size_t s = 0; s < lane.segment_count(); ++s) {
    const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
    if (demanded != nullptr) {
      const std::vector<NameTime>& names = demanded->bounds()[s].names;
      if (!names.empty() && std::none_of(names.begin(), names.end(), [&](const NameTime& known) { return wanted(known.name); })) continue;
    }
    const std::shared_ptr<const LaneSegment> segment = lane.segment(s);
    for (EventIndex i = 0; i < segment->size(); ++i)
      if (wanted(segment->name(i))) visit(first + i);
  }
}

// True if all events and values of counters of a trace are in memory, so that no question about them waits for the disk. O(lanes + counters).
[[nodiscard]] bool holds_events(const Trace& trace) noexcept;
// True if events without names, or samples without a value, stand for what could not be read, or for which there was no memory: then no answer about the
// trace is right. O(lanes + counters). Any thread.
[[nodiscard]] bool has_substitutes(const Trace& trace) noexcept;
// Fails if has_substitutes(), with one sentence for each file of this trace that can't be read, and one if memory lacked. For callers that are about to
// hand out results from the trace's events. O(lanes).
[[nodiscard]] Result<void> check_all_was_read(const Trace& trace);
// True if there is memory for all events of a trace. False if they are read from a file when they are needed, or if some events of a growing recording
// are in a temporary file. Only if true may a caller keep something for each event. O(segments).
[[nodiscard]] bool has_memory_for_events(const Trace& trace) noexcept;

// Keeps decoded segments of all traces of this process, of lanes and of counters, within a budget of bytes. The segments that were unused longest go first.
//
// Segments that threads have pinned count, but cannot go: at least eight a thread, which are 11 MB if all are full.
//
// Threads: any number may call any function at once.
class SegmentCache {
 public:
  static SegmentCache& of_process();

  // A quarter of the memory that this process may have (memory_limits.h), and at most 4 GiB.
  [[nodiscard]] static std::uint64_t default_budget() noexcept;
  void set_budget(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t budget() const noexcept;

  struct Use {
    std::uint64_t budget = 0;    // bytes
    std::uint64_t used = 0;      // bytes of segments, decoded or not
    std::uint64_t most = 0;      // most bytes that were used at once
    std::uint64_t segments = 0;  // in the cache
    std::uint64_t decoded = 0;   // how often a segment was decoded
    std::uint64_t times = 0;     // how often only the times of one were decoded
    std::uint64_t in_parts = 0;  // how often one was read of which only parts are decoded
    std::uint64_t counters = 0;  // how often a segment of a counter, or the times of some, were decoded
    std::uint64_t ahead = 0;     // how often decoding was started before anybody asked for it
    std::uint64_t dropped = 0;   // how often a segment was given up for lack of room
  };
  [[nodiscard]] Use use() const noexcept;

  // The files that can't be read any more, one sentence for each; empty if all can be read.
  [[nodiscard]] std::vector<std::string> problems() const;
  // As problems(), for callers that tell the user: problems are forgotten here, and reported again when they occur again.
  [[nodiscard]] std::vector<std::string> take_problems();
  static constexpr std::string_view kShortage = "There was not enough memory: not all is shown. Close other programs, or give Lanescope less of it for events.";
  // Adds a problem, unless it is there already.
  void report(std::string sentence);
  // Reports from now on that there was not enough memory for something, and gives up all segments that nobody reads.
  void report_shortage() noexcept;
  // Counts a segment that was read and of which only parts are decoded.
  void count_read_in_parts() noexcept;

  // Segments of which parts are decoded stay undecoded for the next one who asks for parts of them: those that were unused longest go first. These are bytes
  // for which there is room now: a quarter of the budget, or more if decoded segments leave it.
  [[nodiscard]] std::uint64_t room_for_undecoded() const noexcept;
  // Bytes that an event takes in one of them, at most, for common recordings.
  static constexpr std::uint64_t kUndecodedEvent = 8;
  // Null if it is not there. The number is that of DemandedSegments::identity().
  [[nodiscard]] std::shared_ptr<const LaneSegmentParts> undecoded(std::uint64_t identity) noexcept;
  // Keeps it if there is room.
  void keep_undecoded(std::uint64_t identity, std::shared_ptr<const LaneSegmentParts> segment) noexcept;

  SegmentCache(const SegmentCache&) = delete;
  SegmentCache& operator=(const SegmentCache&) = delete;

 private:
  friend class DemandedSegments;
  friend class DemandedCounters;
  SegmentCache();
  ~SegmentCache();

  // Returns the segment from the cache, or decodes it; if there is no memory for that, returns its substitute. Throws std::bad_alloc if there is no
  // memory for that, either. If segments of a lane are asked for one after the other, the next ones are decoded meanwhile.
  [[nodiscard]] std::shared_ptr<const LaneSegment> take(const DemandedSegments& from, std::size_t s);
  // Returns what the cache has of the segment, or its decoded times alone. If these can't be read, acts as take().
  [[nodiscard]] std::shared_ptr<const LaneSegment> take_times(const DemandedSegments& from, std::size_t s);
  enum class Wanted : std::uint8_t { kEvents, kTimes };
  // Returns false if it is there decoded, or all that is wanted of it.
  [[nodiscard]] bool reads_in_parts(const DemandedSegments& from, std::size_t s, Wanted wanted) noexcept;
  // Something else that is decoded, and its size.
  struct Content {
    std::shared_ptr<const void> what;
    std::uint64_t bytes = 0;
  };
  // So many numbers, from the returned one on, that nothing else in the cache has.
  [[nodiscard]] std::uint64_t new_identities(std::size_t count) noexcept;
  // Returns what the cache has under this number, or what `read` returns, which is kept unless it is null; it takes `expected` bytes, more or less. If memory
  // lacks, segments are given up, and `read` is called again. Throws std::bad_alloc if there is no memory all the same.
  [[nodiscard]] std::shared_ptr<const void> take(std::uint64_t identity, std::uint64_t expected, const std::function<Content()>& read);
  // The same if it is there; else null.
  [[nodiscard]] std::shared_ptr<const void> at_hand(std::uint64_t identity) noexcept;
  // Forgets all segments of a lane, or of counters, that are gone.
  void forget(std::uint64_t first_identity, std::size_t count) noexcept;
  [[nodiscard]] std::uint64_t pinned_bytes_per_thread() const noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
