#include <algorithm>
#include <atomic>
#include <limits>
#include <queue>
#include <utility>

#include "model/events/event_query.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/lane_in_parts.h"
#include "model/trace/workers/parallel.h"
#include "passage.h"

namespace lanescope {
namespace {

constexpr Nanoseconds kNotEnough = std::numeric_limits<Nanoseconds>::max();
constexpr std::uint64_t kFewEvents = std::uint64_t{600} << 16;  // that may be read anyway: a second or less
constexpr std::uint64_t kShare = 4;                             // one of so many may be read: to order all events takes many times as long
constexpr std::uint64_t kMostLooks = 20'000'000;                // at other lanes, for the event before

// Idle times of a lane, from its outline, which has one part for many events.
class Rests {
 public:
  Rests() = default;
  explicit Rests(const Lane& lane) : end_(lane.extent().end) {
    const Lane& outline = outline_of(lane);
    starts_.reserve(outline.size());
    rests_.reserve(outline.size());
    for (EventIndex i = 0; i < outline.size(); ++i) {
      starts_.push_back(outline.start(i));
      rests_.push_back((i + 1 < outline.size() ? outline.start(i + 1) : end_) - outline.end(i));
    }
  }

  // The begins of parts: after `from`, before `until`.
  [[nodiscard]] std::span<const Nanoseconds> starts_between(Nanoseconds from, Nanoseconds until) const {
    const std::size_t first = before(from + 1);
    return std::span(starts_).subspan(first, std::max(before(until), first) - first);
  }
  // Upper bound of the length of stretches without events that end in [from, until]; none if unknown, because nothing lies before `from`. Stops when it may be
  // as long as `enough`.
  [[nodiscard]] std::optional<Nanoseconds> longest(Nanoseconds from, Nanoseconds until, Nanoseconds enough) const {
    std::size_t part = before(from);
    if (part == 0) return std::nullopt;
    Nanoseconds longest = std::max<Nanoseconds>(0, until - end_);
    for (--part; part < starts_.size() && (starts_[part] < until || starts_[part] < from) && longest < enough; ++part)
      longest = std::max(longest, rests_[part]);
    return longest;
  }

 private:
  // Number of parts that begin before t.
  [[nodiscard]] std::size_t before(Nanoseconds t) const {
    return static_cast<std::size_t>(std::lower_bound(starts_.begin(), starts_.end(), t) - starts_.begin());
  }

  Nanoseconds end_ = 0;
  std::vector<Nanoseconds> starts_, rests_;
};

// Events of a segment, and an upper bound of their gaps.
struct Piece {
  Nanoseconds most = 0;
  Nanoseconds start = 0;  // none starts earlier
  Stretch events;
};

class LongestGaps {
 public:
  LongestGaps(const EventValues& values, const Passage& passage, std::size_t count, const std::stop_token& stop)
      : values_(values),
        trace_(values.trace()),
        passage_(passage),
        count_(count),
        stop_(stop),
        most_read_(std::max<std::uint64_t>(kFewEvents, event_count(passage.stretches()) / kShare)),
        rests_(trace_.lanes().size()) {
    parallel_for(values_.scope().lanes().size(), [&](std::size_t i) {
      const LaneId lane = values_.scope().lanes()[i];
      if (has_gaps(trace_.track_of(lane).key.kind)) rests_[lane] = Rests(trace_.lane(lane));
    });
  }

  // Once some events are known, pieces are searched on all cores for those that may come before the last of them.
  std::optional<std::vector<EventRef>> find() {
    constexpr std::size_t kAtOnce = 32;
    const std::vector<Piece> all = pieces();
    for (std::size_t next = 0; next < all.size() && may_come_first(all[next].most, all[next].start);) {
      if (has_taken_long()) return std::nullopt;
      const auto some = std::span(all).subspan(next, is_known() ? std::min(kAtOnce, all.size() - next) : 1);
      std::vector<std::vector<Near>> near(some.size());
      parallel_for(some.size(), [&](std::size_t i) {
        if (may_come_first(some[i].most, some[i].start)) near[i] = candidates(some[i].events);
      });
      for (std::size_t i = 0; i < some.size(); ++i)
        for (const auto& [own, start, index] : near[i])
          if (may_come_first(own, start) && !stop_.stop_requested() && looks_ <= kMostLooks) consider({some[i].events.lane, index}, some[i].events.chained);
      next += some.size();
    }
    if (!is_known() || has_taken_long()) return std::nullopt;
    std::vector<EventRef> events(first_.size());
    for (auto event = events.rbegin(); event != events.rend(); ++event, first_.pop()) *event = first_.top().event;
    return events;
  }

 private:
  struct Found {
    Nanoseconds gap, start;
    EventRef event;
    // In the order of the table.
    bool operator<(const Found& other) const noexcept {
      if (gap != other.gap) return gap > other.gap;
      return start != other.start ? start < other.start : event < other.event;
    }
  };
  // An event, and the time since the previous one on its lane.
  struct Near {
    Nanoseconds own, start;
    EventIndex index;
  };

  [[nodiscard]] bool has_taken_long() const noexcept { return stop_.stop_requested() || read_ > most_read_ || looks_ > kMostLooks; }
  [[nodiscard]] bool is_known() const noexcept { return first_.size() == count_; }
  // Whether an event may come before the last one that is known, if its gap is at most this, and it does not start earlier. A program does the same again and
  // again, so many gaps may be equal.
  [[nodiscard]] bool may_come_first(Nanoseconds most, Nanoseconds start) const noexcept {
    if (!is_known()) return true;
    const Found& last = first_.top();
    return most != last.gap ? most > last.gap : start <= last.start;
  }

  // The most promising first. The first event of a lane is a piece of its own, because its own lane does not bound its gap.
  std::vector<Piece> pieces() {
    std::vector<Piece> pieces;
    for (const Stretch& stretch : passage_.stretches()) {
      if (!has_gaps(trace_.track_of(stretch.lane).key.kind)) continue;
      if (has_taken_long()) break;
      const Lane& lane = trace_.lane(stretch.lane);
      EventIndex begin = stretch.first;
      if (begin == 0) {
        const Nanoseconds start = lane.segment_start(0);
        if (const auto most = least_of_others(stretch.lane, start, start, kNotEnough)) pieces.push_back({*most, start, {stretch.lane, 0, 1, stretch.chained}});
        begin = 1;
      }
      while (begin < stretch.last) {
        const std::size_t s = begin / LaneSegment::kCapacity;
        const EventIndex end = std::min<EventIndex>(stretch.last, static_cast<EventIndex>(s + 1) * LaneSegment::kCapacity);
        const Nanoseconds until = s + 1 < lane.segment_count() ? lane.segment_start(s + 1) : lane.extent().end;
        // The first part contains what lies before all its events, except the very first of the lane.
        const Nanoseconds from = s == 0 ? lane.segment_start(0) + 1 : lane.segment_start(s);
        const Nanoseconds own = rests_[stretch.lane].longest(from, until, kNotEnough).value_or(kNotEnough);
        const Nanoseconds most = std::min(own, least_of_others(stretch.lane, from, until, own).value_or(own));
        pieces.push_back({most, lane.segment_start(s), {stretch.lane, begin, end, stretch.chained}});
        begin = end;
      }
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.most != b.most ? a.most > b.most : a.start < b.start; });
    return pieces;
  }

  // A bound from the other lanes of the row; none if nothing of them lies before.
  std::optional<Nanoseconds> least_of_others(LaneId lane, Nanoseconds from, Nanoseconds until, Nanoseconds least) const {
    std::optional<Nanoseconds> bound;
    for (const LaneId other : values_.row_of(lane)) {
      if (other == lane) continue;
      if (++looks_ > kMostLooks) break;
      if (const auto longest = rests_[other].longest(from, until, bound ? std::min(*bound, least) : least))
        bound = std::min(bound.value_or(*longest), *longest);
      if (bound && !may_come_first(*bound, from)) break;
    }
    return bound;
  }

  // Those of the events that may come before the last one that is known; the longest time first.
  std::vector<Near> candidates(const Stretch& events) const {
    const Lane& lane = trace_.lane(events.lane);
    if (events.first == 0) return {{kNotEnough, lane.segment_start(0), 0}};
    const std::size_t s = events.first / LaneSegment::kCapacity;
    const Nanoseconds first_start = lane.segment_start(s);
    const Nanoseconds until = s + 1 < lane.segment_count() ? lane.segment_start(s + 1) : lane.extent().end + 1;
    std::vector<Nanoseconds> borders{first_start};  // borders of its parts
    for (const Nanoseconds start : rests_[events.lane].starts_between(first_start, until)) borders.push_back(start);
    borders.push_back(until);
    LaneTimes times(lane);
    std::vector<Near> near;
    for (std::size_t part = 0; part + 1 < borders.size(); ++part) {
      const Nanoseconds begin = borders[part], end = borders[part + 1];
      const Nanoseconds own = rests_[events.lane].longest(begin, end, kNotEnough).value_or(kNotEnough);
      if (!may_come_first(own, begin)) continue;
      if (const auto others = least_of_others(events.lane, begin, end, own); others && !may_come_first(*others, begin)) continue;
      EventIndex i = std::max(events.first, times.lower_bound(begin));
      Nanoseconds before = times.end(i - 1);
      const EventIndex first = i;
      for (; i < events.last; ++i) {
        const Nanoseconds start = times.start(i);
        if (start >= end && end != until) break;
        if (may_come_first(start - before, start)) near.push_back({start - before, start, i});
        before = start + times.duration(i);
      }
      read_ += i - first;
    }
    std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.own != b.own ? a.own > b.own : a.index < b.index; });
    return near;
  }

  void consider(EventRef event, bool chained) {
    passed_.clear();
    passage_.gather({event.lane, event.index, event.index + 1, chained}, passed_, {}, std::numeric_limits<std::size_t>::max());
    if (passed_.empty()) return;
    looks_ += values_.row_of(event.lane).size();
    const auto gap = values_.number(event, EventColumn::kGapBefore);
    if (!gap) return;
    first_.push({*gap, trace_.lane(event.lane).start(event.index), event});
    if (first_.size() > count_) first_.pop();
  }

  const EventValues& values_;
  const Trace& trace_;
  const Passage& passage_;
  std::size_t count_;
  const std::stop_token& stop_;
  std::uint64_t most_read_;
  std::vector<Rests> rests_;          // by lane
  std::priority_queue<Found> first_;  // the last one of the table on top
  std::vector<EventRef> passed_;
  mutable std::atomic<std::uint64_t> read_ = 0, looks_ = 0;  // counted on all cores
};

}  // namespace

std::optional<std::vector<EventRef>> events_after_longest_gaps(const EventValues& values, std::span<const LaneId> lanes, const EventFilter& filter,
                                                               std::size_t count, const std::stop_token& stop) {
  if (count == 0 || holds_events(values.trace())) return std::nullopt;
  const Passage passage(values.trace(), lanes, filter);
  return LongestGaps(values, passage, count, stop).find();
}

}  // namespace lanescope
