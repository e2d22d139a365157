#include "timeline/core/lanes/busy_union.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace lanescope::timeline {
namespace {

constexpr Nanoseconds kBeforeAll = std::numeric_limits<Nanoseconds>::min();

// Visits the events of a lane. Of parts that are left out, nothing is decoded.
class Cursor {
 public:
  // `times` has the times of the lane, and must exist for as long as this does.
  Cursor(const BusyLane& of, LaneTimes& times, Nanoseconds from) : subset_(of.subset), times_(&times), size_(of.size()) {
    index_ = lower_bound(from);
    if (index_ > 0) end_of_previous_ = subset_ != nullptr ? subset_->end(index_ - 1) : times_->end(index_ - 1);
    read();
  }
  [[nodiscard]] bool at_end() const noexcept { return index_ == size_; }
  [[nodiscard]] Nanoseconds start() const noexcept { return start_; }
  [[nodiscard]] Nanoseconds end() noexcept {
    if (part_) read_times();
    return end_;
  }
  // The part of the lane that begins here, if nothing of it was read yet.
  [[nodiscard]] const std::optional<LaneTimes::Part>& part() const noexcept { return part_; }
  // Moves behind the part.
  void leave_out_part() noexcept {
    index_ = part_->end;
    read();
  }
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
  [[nodiscard]] EventIndex lower_bound(Nanoseconds t) noexcept { return subset_ != nullptr ? subset_->lower_bound(t) : times_->lower_bound(t); }
  void read() noexcept {
    part_.reset();
    if (at_end()) return;
    if (subset_ == nullptr && (part_ = times_->part_from(index_))) {
      start_ = part_->start;
      return;
    }
    read_times();
  }
  void read_times() noexcept {
    part_.reset();
    const EventIndex at = subset_ != nullptr ? subset_->source_index(index_) : index_;
    start_ = times_->start(at);
    end_ = start_ + times_->duration(at);
  }

  const LaneSubset* subset_;
  LaneTimes* times_;
  EventIndex size_;
  EventIndex index_ = 0;
  Nanoseconds start_ = 0;
  Nanoseconds end_ = 0;
  Nanoseconds end_of_previous_ = kBeforeAll;
  std::optional<LaneTimes::Part> part_;
};

// The cursor with the earliest start of several: a heap of starts.
class FirstOf {
 public:
  template <typename Running>
  explicit FirstOf(const std::vector<Running>& running) {
    heap_.reserve(running.size());
    for (std::uint32_t index = 0; index < running.size(); ++index)
      if (const Cursor& cursor = running[index].cursor; !cursor.at_end()) heap_.push_back({cursor.start(), index});
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

// Calls use(lane, start, end) for all events of the lanes after a time, by start: first for events that started before it, cut off there. Stops when use()
// returns false, and at events that start at `until` or later. If no other lane has events meanwhile, may_leave_out(start) allows leaving out events of one
// lane from that start on, except the last of them. take_part(lane, part, others) allows leaving out a part that was not decoded; no other lane has an event
// that is still to come and starts before `others`. `times` has those of each lane.
template <typename Use, typename MayLeaveOut, typename TakePart>
void walk(std::span<const BusyLane> lanes, std::span<LaneTimes* const> times, Nanoseconds from, Nanoseconds until, Use use, MayLeaveOut may_leave_out,
          TakePart take_part) {
  constexpr int kFewInARow = 8;  // stepping over so few events takes less time than a search
  struct Running {
    Cursor cursor;
    std::size_t lane;
  };
  std::vector<Running> running;
  running.reserve(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    if (const Cursor cursor(lanes[lane], *times[lane], from); !cursor.at_end() || cursor.end_of_previous() > from) running.push_back({cursor, lane});
  for (const auto& [cursor, lane] : running)
    if (cursor.end_of_previous() > from && !use(lane, from, cursor.end_of_previous())) return;
  for (FirstOf first(running); !first.empty();) {
    auto& [cursor, lane] = running[first.index()];
    const Nanoseconds others = first.next_start();
    int in_a_row = 0;
    do {
      if (cursor.start() >= until) return;
      if (cursor.part() && take_part(lane, *cursor.part(), others)) {
        cursor.leave_out_part();
        continue;
      }
      if (++in_a_row > kFewInARow && may_leave_out(cursor.start())) {
        cursor.go_to_last_until(others);
        in_a_row = 0;
      }
      if (!use(lane, cursor.start(), cursor.end())) return;
      cursor.next();
    } while (!cursor.at_end() && cursor.start() <= others);
    if (cursor.at_end())
      first.remove();
    else
      first.replace(cursor.start());
  }
}

// The same for use(start, end), of lanes that nothing was read of.
template <typename Use, typename MayLeaveOut>
void walk(std::span<const BusyLane> lanes, Nanoseconds from, Use use, MayLeaveOut may_leave_out) {
  std::vector<LaneTimes> times;
  times.reserve(lanes.size());
  for (const BusyLane& lane : lanes) times.emplace_back(*lane.lane);
  std::vector<LaneTimes*> of_lanes;
  for (LaneTimes& each : times) of_lanes.push_back(&each);
  walk(
      lanes, of_lanes, from, std::numeric_limits<Nanoseconds>::max(), [&](std::size_t, Nanoseconds start, Nanoseconds end) { return use(start, end); },
      may_leave_out, [](std::size_t, const LaneTimes::Part&, Nanoseconds) { return false; });
}

template <typename Use>
void walk(std::span<const BusyLane> lanes, Nanoseconds from, Use use) {
  walk(lanes, from, use, [](Nanoseconds) { return false; });
}

std::uint64_t event_count(std::span<const BusyLane> lanes) {
  std::uint64_t events = 0;
  for (const BusyLane& lane : lanes) events += lane.size();
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

void EventUnions::unite(std::span<const BusyLane> lanes, std::span<const Nanoseconds> times, std::span<const Wanted> sets) {
  std::vector<LaneTimes*> of_lanes;
  std::map<Key, LaneTimes> still_open;
  for (const BusyLane& lane : lanes) {
    const Key key{lane.lane, lane.subset};
    const auto found = open_.find(key);
    of_lanes.push_back(&(found != open_.end() ? still_open.insert(open_.extract(found)).position : still_open.emplace(key, *lane.lane).first)->second);
  }
  open_ = std::move(still_open);
  struct State {
    Nanoseconds covered_until;
    std::size_t column = 0;  // no event that is still to come starts before it
    Nanoseconds* busy;
  };
  std::vector<State> states;
  std::vector<std::vector<std::uint32_t>> levels_of(lanes.size());
  for (const Wanted& level : sets) {
    for (const std::size_t lane : level.lanes) levels_of[lane].push_back(static_cast<std::uint32_t>(states.size()));
    states.push_back({times.front(), 0, level.busy.data()});
  }
  const auto go_to = [&](State& level, Nanoseconds start) {
    while (times[level.column + 1] <= start) ++level.column;
  };
  // What an event shares with earlier ones was counted for these.
  const auto use = [&](std::size_t lane, Nanoseconds start, Nanoseconds end) {
    end = std::min(end, times.back());
    for (const std::uint32_t number : levels_of[lane]) {
      State& level = states[number];
      const Nanoseconds shared = std::min(end, level.covered_until);
      level.covered_until = std::max(level.covered_until, end);
      if (start >= shared) continue;
      go_to(level, start);
      std::size_t column = level.column;
      for (Nanoseconds begin = start; begin < shared; ++column) {
        const Nanoseconds until = std::min(shared, times[column + 1]);
        level.busy[column] -= until - begin;
        begin = until;
      }
    }
    return true;
  };
  // Events of a part share nothing with others if their lane runs alone meanwhile, and all of their time if others cover it throughout.
  const auto take_part = [&](std::size_t lane, const LaneTimes::Part& part, Nanoseconds others) {
    for (const std::uint32_t number : levels_of[lane]) {
      State& level = states[number];
      if (level.covered_until <= part.start && part.until <= others) continue;
      if (level.covered_until < part.until) return false;
      go_to(level, part.start);
      if (part.until > times[level.column + 1]) return false;
    }
    for (const std::uint32_t number : levels_of[lane])
      if (State& level = states[number]; level.covered_until > part.start) level.busy[level.column] -= part.busy;
    return true;
  };
  walk(
      lanes, of_lanes, times.front(), times.back(), use, [](Nanoseconds) { return false; }, take_part);
}

void unite_events(std::span<const BusyLane> lanes, std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) {
  EventUnions::Wanted all{{}, busy};
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) all.lanes.push_back(lane);
  EventUnions().unite(lanes, times, {&all, 1});
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
