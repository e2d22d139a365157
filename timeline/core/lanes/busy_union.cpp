#include "timeline/core/lanes/busy_union.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace lanescope::timeline {
namespace {

constexpr Nanoseconds kBeforeAll = std::numeric_limits<Nanoseconds>::min();

// Visits the events of a lane, segment by segment. If segments must be decoded, only their times are.
class Cursor {
 public:
  Cursor(const BusyLane& of, Nanoseconds from) : lane_(of.lane), subset_(of.subset) {
    index_ = lower_bound(from);
    size_ = subset_ != nullptr ? subset_->size() : lane_->size();
    if (index_ > 0) end_of_previous_ = subset_ != nullptr ? subset_->end(index_ - 1) : end_of(index_ - 1);
    read();
  }
  [[nodiscard]] bool at_end() const noexcept { return index_ == size_; }
  [[nodiscard]] Nanoseconds start() const noexcept { return start_; }
  [[nodiscard]] Nanoseconds end() const noexcept { return end_; }
  // Of the event before the first one.
  [[nodiscard]] Nanoseconds end_of_previous() const noexcept { return end_of_previous_; }
  void next() noexcept {
    ++index_;
    read();
  }
  // Moves to the last event that starts at or before t. Requires: the present event does. O(log n).
  void go_to_last_until(Nanoseconds t) noexcept {
    index_ = (t == std::numeric_limits<Nanoseconds>::max() ? size_ : lower_bound(t + 1)) - 1;
    read();
  }

 private:
  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) noexcept {
    if (subset_ != nullptr) return subset_->lower_bound(t);
    const std::size_t s = lane_->segment_at(t);
    if (s == lane_->segment_count()) return lane_->size();
    const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
    return t <= lane_->segment_start(s) ? first : first + times_of(s).lower_bound(t);
  }
  [[nodiscard]] Nanoseconds end_of(EventIndex i) noexcept {
    const std::size_t s = i / LaneSegment::kCapacity;
    const EventIndex within = i % LaneSegment::kCapacity;
    const bool is_last = within + 1 == LaneSegment::kCapacity || i + 1 == lane_->size();
    return is_last ? lane_->segment_end(s) : times_of(s).end(within);
  }
  const SegmentTimes& times_of(std::size_t s) noexcept {
    if (!times_ || s != segment_) times_.emplace(lane_->times(s));
    segment_ = s;
    return *times_;
  }
  void read() noexcept {
    if (at_end()) return;
    const EventIndex at = subset_ != nullptr ? subset_->source_index(index_) : index_;
    const SegmentTimes& times = times_of(at / LaneSegment::kCapacity);
    start_ = times.start(at % LaneSegment::kCapacity);
    end_ = start_ + times.duration(at % LaneSegment::kCapacity);
  }

  const Lane* lane_;
  const LaneSubset* subset_;
  std::optional<SegmentTimes> times_;
  std::size_t segment_ = 0;  // the segment of times_
  EventIndex index_ = 0;
  EventIndex size_ = 0;
  Nanoseconds start_ = 0;
  Nanoseconds end_ = 0;
  Nanoseconds end_of_previous_ = kBeforeAll;
};

// The cursor with the earliest start of several: a heap of starts.
class FirstOf {
 public:
  explicit FirstOf(const std::vector<Cursor>& cursors) {
    heap_.reserve(cursors.size());
    for (std::uint32_t index = 0; index < cursors.size(); ++index)
      if (!cursors[index].at_end()) heap_.push_back({cursors[index].start(), index});
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::uint32_t index() const noexcept { return heap_.front().second; }
  // The time until which no other cursor comes before the first.
  [[nodiscard]] Nanoseconds next_start() const noexcept {
    if (heap_.size() < 2) return std::numeric_limits<Nanoseconds>::max();
    return heap_.size() == 2 ? heap_[1].first : std::min(heap_[1].first, heap_[2].first);
  }
  // The first cursor has moved to another start.
  void replace(Nanoseconds start) noexcept {
    const Entry moved{start, heap_.front().second};
    std::size_t hole = 0;
    while (true) {
      std::size_t child = 2 * hole + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moved)) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = moved;
  }
  // The first cursor is at its end.
  void remove() noexcept {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

 private:
  using Entry = std::pair<Nanoseconds, std::uint32_t>;
  std::vector<Entry> heap_;
};

// Calls use(start, end) for all events of the lanes after a time, by start: first for events that started before it, cut off there. Stops when use() returns
// false. If no other lane has events meanwhile, may_leave_out(start) allows leaving out events of one lane from that start on, except the last of them.
template <typename Use, typename MayLeaveOut>
void walk(std::span<const BusyLane> lanes, Nanoseconds from, Use use, MayLeaveOut may_leave_out) {
  constexpr int kFewInARow = 8;  // stepping over so few events takes less time than a search
  std::vector<Cursor> cursors;
  cursors.reserve(lanes.size());
  for (const BusyLane& lane : lanes)
    if (const Cursor cursor(lane, from); !cursor.at_end() || cursor.end_of_previous() > from) cursors.push_back(cursor);
  for (const Cursor& cursor : cursors)
    if (cursor.end_of_previous() > from && !use(from, cursor.end_of_previous())) return;
  for (FirstOf first(cursors); !first.empty();) {
    Cursor& cursor = cursors[first.index()];
    const Nanoseconds others = first.next_start();
    int in_a_row = 0;
    do {
      if (++in_a_row > kFewInARow && may_leave_out(cursor.start())) {
        cursor.go_to_last_until(others);
        in_a_row = 0;
      }
      if (!use(cursor.start(), cursor.end())) return;
      cursor.next();
    } while (!cursor.at_end() && cursor.start() <= others);
    if (cursor.at_end())
      first.remove();
    else
      first.replace(cursor.start());
  }
}

template <typename Use>
void walk(std::span<const BusyLane> lanes, Nanoseconds from, Use use) {
  walk(lanes, from, use, [](Nanoseconds) { return false; });
}

std::uint64_t event_count(std::span<const BusyLane> lanes) {
  std::uint64_t events = 0;
  for (const BusyLane& lane : lanes) events += lane.subset != nullptr ? lane.subset->size() : lane.lane->size();
  return events;
}

TimeRange extent_of(std::span<const BusyLane> lanes) {
  TimeRange extent{std::numeric_limits<Nanoseconds>::max(), kBeforeAll};
  for (const BusyLane& lane : lanes) {
    if (lane.lane->empty()) continue;
    extent.begin = std::min(extent.begin, lane.lane->extent().begin);
    extent.end = std::max(extent.end, lane.lane->extent().end);
  }
  return extent;
}

}  // namespace

BusyUnion::BusyUnion(std::span<const BusyLane> lanes) : kept_(smaller(lanes)), events_when_chosen_(event_count(lanes)) { merge(lanes, nullptr, kBeforeAll); }

BusyUnion::BusyUnion(std::span<const BusyLane> lanes, const BusyUnion& before, Nanoseconds unchanged_until)
    : kept_(before.kept_), events_when_chosen_(before.events_when_chosen_) {
  if (const std::uint64_t events = event_count(lanes); events > 2 * events_when_chosen_) {
    kept_ = smaller(lanes);
    events_when_chosen_ = events;
  }
  if (kept_ == before.kept_)
    merge(lanes, &before, unchanged_until);
  else
    merge(lanes, nullptr, kBeforeAll);
}

// Estimates the result from samples of the events.
BusyUnion::Kept BusyUnion::smaller(std::span<const BusyLane> lanes) {
  constexpr std::size_t kMostPlaces = 16;
  constexpr std::size_t kLooks = 1u << 17;  // in lanes, for all places together
  constexpr int kEvents = 1024;
  const auto places = static_cast<Nanoseconds>(std::clamp<std::size_t>(kLooks / std::max<std::size_t>(1, lanes.size()), 2, kMostPlaces));
  const TimeRange extent = extent_of(lanes);
  std::size_t in_union = 0, overlaps = 0;
  std::vector<Nanoseconds> open;  // ends of the last intervals: of the union, of overlaps of two lanes, and so on
  for (Nanoseconds place = 0; place < places && extent.begin < extent.end; ++place) {
    int events = 0;
    open.clear();
    walk(lanes, extent.begin + extent.length() / places * place, [&](Nanoseconds start, Nanoseconds end) {
      for (std::size_t layer = 0; start < end; ++layer) {
        if (layer == open.size()) open.push_back(kBeforeAll);
        if (start > open[layer]) {
          ++(layer == 0 ? in_union : overlaps);
          open[layer] = end;
          break;
        }
        const Nanoseconds covered = std::min(open[layer], end);
        open[layer] = std::max(open[layer], end);
        end = covered;
      }
      return ++events < kEvents;
    });
  }
  return in_union < overlaps ? Kept::kUnion : Kept::kOverlaps;
}

void BusyUnion::merge(std::span<const BusyLane> lanes, const BusyUnion* before, Nanoseconds from) {
  const bool may_spill = std::any_of(lanes.begin(), lanes.end(), [](const BusyLane& lane) { return lane.lane->memory() == EventMemory::kBudget; });
  const EventMemory memory = may_spill ? EventMemory::kBudget : EventMemory::kAll;
  std::vector<IntervalUnion::Writer> writers;
  if (before != nullptr)
    for (const IntervalUnion& layer : before->layers_) writers.emplace_back(layer, from, memory);
  if (kept_ == Kept::kUnion) {
    if (writers.empty()) writers.emplace_back(memory);
    walk(lanes, from, [&](Nanoseconds start, Nanoseconds end) {
      writers.front().add(start, end);
      return true;
    });
  } else {
    Nanoseconds busy_until = kBeforeAll;
    const auto add = [&](Nanoseconds start, Nanoseconds end) {
      const Nanoseconds covered = std::min(busy_until, end);
      busy_until = std::max(busy_until, end);
      end = covered;
      for (std::size_t layer = 0; start < end; ++layer) {
        if (layer == writers.size()) writers.emplace_back(memory);
        end = writers[layer].add(start, end);
      }
      return true;
    };
    // Events of one lane do not overlap each other.
    walk(lanes, from, add, [&](Nanoseconds start) { return start >= busy_until; });
  }
  for (IntervalUnion::Writer& writer : writers) layers_.push_back(writer.take());
}

void BusyUnion::unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) const {
  if (kept_ == Kept::kUnion) std::fill(busy.begin(), busy.end(), 0);
  const Nanoseconds sign = kept_ == Kept::kUnion ? 1 : -1;
  std::vector<Nanoseconds> covered(times.size());
  for (const IntervalUnion& layer : layers_) {
    if (layer.size() == 0 || layer.start(0) >= times.back()) continue;
    layer.covered_before(times, covered);
    for (std::size_t x = 0; x < busy.size(); ++x) busy[x] += sign * (covered[x + 1] - covered[x]);
  }
}

void unite_events(std::span<const BusyLane> lanes, std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) {
  std::fill(busy.begin(), busy.end(), 0);
  Nanoseconds covered_until = times.front();
  std::size_t column = 0;
  walk(lanes, times.front(), [&](Nanoseconds start, Nanoseconds end) {
    if (start >= times.back()) return false;
    start = std::max(start, covered_until);
    end = std::min(end, times.back());
    while (start < end) {
      while (times[column + 1] <= start) ++column;
      const Nanoseconds until = std::min(end, times[column + 1]);
      busy[column] += until - start;
      start = covered_until = until;
    }
    return true;
  });
}

std::size_t BusyUnion::intervals() const noexcept {
  std::size_t count = 0;
  for (const IntervalUnion& layer : layers_) count += layer.size();
  return count;
}

std::size_t BusyUnion::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const IntervalUnion& layer : layers_) bytes += layer.memory_bytes();
  return bytes;
}

}  // namespace lanescope::timeline
