// Segments of a lane that are decoded when they are needed, and the cache in which they stay (docs/adr/0019-segments-on-demand.md).
//
// Who reads an event pins its segment: each thread keeps the last few segments that it read, and finds them there without a lock. So a
// segment that the cache gives up stays for as long as somebody reads it. Pins go with the thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/trace/lane.h"

namespace lanescope {

class Trace;

// What events of one name take of a segment: how many they are, the sum of their durations, the shortest and the longest, in ns.
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
  Nanoseconds end = 0;   // of the last event
  Nanoseconds busy = 0;  // sum of durations
  CorrelationBounds correlations;
  std::vector<NameTime> names;  // all that occur, each once; none where they are not known
  Nanoseconds longest = 0;      // no event lasts longer
};

// Threads: any number may call any function at once.
class DemandedSegments : public std::enable_shared_from_this<DemandedSegments> {
 public:
  // Requires: bounds are in order, and do not overlap; every segment but the last has LaneSegment::kCapacity events, the last at least one.
  // `outline`: what can be drawn of the lane without decoding anything. It has an event for each part of a segment, of up to 1,024 events, which
  // begins with the part, lasts as long as its events together, and has the name that holds most of that, or none; and no details.
  DemandedSegments(std::vector<SegmentBounds> bounds, Lane outline);
  virtual ~DemandedSegments();
  DemandedSegments(const DemandedSegments&) = delete;
  DemandedSegments& operator=(const DemandedSegments&) = delete;

  [[nodiscard]] std::span<const SegmentBounds> bounds() const noexcept { return bounds_; }
  [[nodiscard]] const Lane& outline() const noexcept { return outline_; }
  // A number that no other segment of this process ever has.
  [[nodiscard]] std::uint64_t identity(std::size_t s) const noexcept { return first_identity_ + s; }

  // The segment, which stays until this thread asks for another one, of any lane. O(1) for the last few; else O(events) where it is not in
  // the cache: it is read and decoded, and that may wait for the disk.
  //
  // One that can't be read is replaced by as many events without a name, of the same bounds and sum, and the cache knows the reason.
  [[nodiscard]] const LaneSegment& pinned(std::size_t s) const noexcept;
  // The same for as long as the caller has it.
  [[nodiscard]] std::shared_ptr<const LaneSegment> held(std::size_t s) const noexcept;
  // The same, of which nothing but the times may be asked (SegmentTimes).
  [[nodiscard]] std::shared_ptr<const LaneSegment> held_times(std::size_t s) const noexcept;
  // The same, read anew and not put into the cache: for who makes another segment of it.
  [[nodiscard]] std::shared_ptr<const LaneSegment> read_apart(std::size_t s) const {
    std::shared_ptr<const LaneSegment> segment = read(s);
    return segment ? segment : substitute(s);
  }
  // Times alone, likewise; null where they can't be read alone.
  [[nodiscard]] std::shared_ptr<const LaneSegment> read_times_apart(std::size_t s) const { return is_unreadable(s) ? nullptr : read_times(s); }
  // Whether one was replaced so far; whether one was, or this one, since it can't be read; whether one was for lack of memory. Any thread.
  [[nodiscard]] bool has_substitutes() const noexcept;
  [[nodiscard]] bool has_unreadable() const noexcept;
  [[nodiscard]] bool is_unreadable(std::size_t s) const noexcept;
  [[nodiscard]] bool lacked_memory() const noexcept;
  // Of those that can't be read, the sentence that the cache was told: whose events they are, and what to do.
  [[nodiscard]] std::string damage_text() const { return origin() != nullptr ? origin()->damage_text() : own_damage_text(); }

 private:
  friend class SegmentCache;
  enum class Reason { kUnreadable, kNoMemory };
  // Those of which these are made, segment by segment; null where these are read themselves.
  [[nodiscard]] virtual const DemandedSegments* origin() const noexcept { return nullptr; }
  [[nodiscard]] virtual std::string own_damage_text() const;
  // Reads it. None where that is not possible; then the cache was told why. O(events).
  [[nodiscard]] virtual std::shared_ptr<const LaneSegment> read(std::size_t s) const = 0;
  // The same of times alone. None where that is not possible, and read() may be.
  [[nodiscard]] virtual std::shared_ptr<const LaneSegment> read_times(std::size_t) const { return nullptr; }
  // What stands for one that can't be read.
  [[nodiscard]] std::shared_ptr<const LaneSegment> substitute(std::size_t s, Reason reason = Reason::kUnreadable) const;

  std::vector<SegmentBounds> bounds_;
  Lane outline_;
  std::uint64_t first_identity_;
  mutable std::atomic<bool> has_unreadable_{false}, lacked_memory_{false};
  mutable std::vector<std::atomic<bool>> unreadable_;  // by segment
};

// What a lane demands, for as long as the lane is there; null where it holds its segments. O(log lanes). Any thread.
[[nodiscard]] const DemandedSegments* demanded_segments(const Lane& lane) noexcept;
// The outline of a lane; a lane that holds its segments is its own.
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

// Whether all events of a trace are in memory, so that nothing that is asked of them waits for the disk. O(lanes).
[[nodiscard]] bool holds_events(const Trace& trace) noexcept;
// Whether events without names stand for some that could not be read, or for which there was no memory: then no answer about the trace is one.
// O(lanes). Any thread.
[[nodiscard]] bool has_substitutes(const Trace& trace) noexcept;
// Fails where has_substitutes(), with one sentence for each file of this trace that can't be read, and one where memory lacked: for who is about to
// hand out what was made of the trace's events. O(lanes).
[[nodiscard]] Result<void> check_all_was_read(const Trace& trace);
// Whether there is memory for all events of a trace: not where they are read from a file when they are needed, nor where some of a recording that
// goes on are in a temporary file. Who keeps something for each event may do so here alone. O(segments).
[[nodiscard]] bool has_memory_for_events(const Trace& trace) noexcept;

// Keeps decoded segments of all traces of this process within a budget of bytes: the longest unused ones go first.
//
// Segments that threads have pinned count, but cannot go: at least eight a thread, which are 11 MB where all are full.
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
    std::uint64_t used = 0;      // bytes of segments that are decoded
    std::uint64_t most = 0;      // that were used at once
    std::uint64_t segments = 0;  // in the cache
    std::uint64_t decoded = 0;   // how often one was decoded
    std::uint64_t times = 0;     // or times of one alone
    std::uint64_t ahead = 0;     // or begun to be, before anybody asked for it
    std::uint64_t dropped = 0;   // and given up again for lack of room
  };
  [[nodiscard]] Use use() const noexcept;

  // What can't be read any more, one sentence for each file; empty where all can be.
  [[nodiscard]] std::vector<std::string> problems() const;
  // The same, for who tells them: they are forgotten here, and come again where one is met again.
  [[nodiscard]] std::vector<std::string> take_problems();
  static constexpr std::string_view kShortage = "There was not enough memory: not all is shown. Close other programs, or give Lanescope less of it for events.";
  // Adds one, once.
  void report(std::string sentence);
  // Says from now on that there was not enough memory for something, and gives up all segments that nobody reads.
  void report_shortage() noexcept;

  SegmentCache(const SegmentCache&) = delete;
  SegmentCache& operator=(const SegmentCache&) = delete;

 private:
  friend class DemandedSegments;
  SegmentCache();
  ~SegmentCache();

  // From the cache, else decoded; where memory lacks for that, what stands for it. Throws std::bad_alloc where it lacks for that, too. When
  // segments of a lane are asked for one after the other, the next are decoded meanwhile.
  [[nodiscard]] std::shared_ptr<const LaneSegment> take(const DemandedSegments& from, std::size_t s);
  // Whatever of it is in the cache, else its times alone, decoded; where these can't be read, as take().
  [[nodiscard]] std::shared_ptr<const LaneSegment> take_times(const DemandedSegments& from, std::size_t s);
  // Forgets all of a lane that is gone.
  void forget(std::uint64_t first_identity, std::size_t count) noexcept;
  [[nodiscard]] std::uint64_t pinned_bytes_per_thread() const noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
