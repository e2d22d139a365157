#include "lane_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lanescope {
void GrowingLane::append(std::span<const Event> events) {
  published_tail_.reset();
  last_start_ = events.back().start;
  last_end_ = events.back().end();
  while (!events.empty()) {
    const std::size_t count = std::min<std::size_t>(events.size(), LaneSegment::kCapacity - tail_.size());
    tail_.insert(tail_.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
    events = events.subspan(count);
    if (tail_.size() < LaneSegment::kCapacity) return;
    segment_starts_.push_back(tail_.front().start);
    if (workers_ == nullptr) {
      full_.push_back(make_segment(tail_, memory_));
      tail_.clear();
    } else {
      pending_.push_back(workers_->build(std::exchange(tail_, workers_->spare())));
      tail_.reserve(LaneSegment::kCapacity);  // a lane that filled one segment is likely to fill another
    }
  }
}

void GrowingLane::settle() {
  for (const SegmentWorkers::Pending& pending : pending_) full_.push_back(workers_->take(pending));
  pending_.clear();
}

void GrowingLane::set_last_event() {
  last_start_ = last_end_ = std::numeric_limits<Nanoseconds>::min();
  if (!tail_.empty()) {
    last_start_ = tail_.back().start;
    last_end_ = tail_.back().end();
  } else if (!full_.empty()) {
    const LaneSegment& last = *full_.back();
    last_start_ = last.start(last.size() - 1);
    last_end_ = last_start_ + last.duration(last.size() - 1);
  }
}

std::uint64_t GrowingLane::reopening_cost(Nanoseconds t) const noexcept {
  if (last_end_ <= t && last_start_ < t) return 0;
  const auto stays = [t](const Event& event) { return event.start < t && event.end() <= t; };
  if (!tail_.empty() && stays(tail_.front())) return static_cast<std::uint64_t>(tail_.end() - std::partition_point(tail_.begin(), tail_.end(), stays));
  const auto first = std::lower_bound(segment_starts_.begin(), segment_starts_.end(), t);
  const auto segments = static_cast<std::uint64_t>(segment_starts_.end() - first) + (first != segment_starts_.begin() ? 1 : 0);
  return segments * LaneSegment::kCapacity + tail_.size();
}

EventRun GrowingLane::reopen(Nanoseconds t) {
  EventRun removed;
  if (last_end_ <= t && last_start_ < t) return removed;
  published_tail_.reset();
  const auto stays = [t](const Event& event) { return event.start < t && event.end() <= t; };
  if (!tail_.empty() && stays(tail_.front())) {
    const auto first = std::partition_point(tail_.begin(), tail_.end(), stays);
    removed.add(std::vector<Event>(first, tail_.end()));
    tail_.erase(first, tail_.end());
    set_last_event();
    return removed;
  }
  settle();
  const auto event_of = [](const LaneSegment& segment, EventIndex i) {
    return Event{segment.start(i), segment.duration(i), segment.name(i), segment.correlation(i), segment.detail(i)};
  };
  std::vector<Event> tail = std::exchange(tail_, {});  // the events after the segments that are removed
  std::vector<std::shared_ptr<const LaneSegment>> taken;
  while (!full_.empty() && !stays(event_of(*full_.back(), full_.back()->size() - 1))) {
    taken.push_back(std::move(full_.back()));
    full_.pop_back();
    segment_starts_.pop_back();
  }
  // Some events of the first removed segment may stay; they become the tail.
  EventIndex i = 0;
  if (!taken.empty())
    for (const LaneSegment& first = *taken.back(); i < first.size() && stays(event_of(first, i)); ++i) tail_.push_back(event_of(first, i));
  for (auto segment = taken.rbegin(); segment != taken.rend(); ++segment, i = 0) removed.add(std::move(*segment), i);
  removed.add(std::move(tail));
  set_last_event();
  return removed;
}

void GrowingLane::prepare_to_publish() {
  constexpr std::size_t kWorthHandingOver = 4'096;  // events
  if (workers_ != nullptr && !published_tail_ && tail_.size() >= kWorthHandingOver) pending_tail_ = workers_->build(std::span(tail_));
}

Lane GrowingLane::publish() {
  settle();
  auto segments = full_;
  if (!tail_.empty()) {
    if (pending_tail_) published_tail_ = workers_->take(std::exchange(pending_tail_, nullptr));
    if (!published_tail_) published_tail_ = std::make_shared<const LaneSegment>(tail_);
    segments.push_back(published_tail_);
  }
  return Lane(std::move(segments));
}

Lane GrowingLane::publish_with(const Event& further) const {
  auto segments = full_;
  std::vector<Event> tail = tail_;
  tail.push_back(further);
  segments.push_back(std::make_shared<const LaneSegment>(tail));
  return Lane(std::move(segments));
}

namespace {

constexpr std::size_t kNearLanes = 8;  // that are looked at one by one; further lanes are in the tree

std::vector<EventRun> one_run(std::vector<Event> events) {
  std::vector<EventRun> runs;
  runs.emplace_back(std::move(events));
  return runs;
}

}  // namespace

GrowingLane& TrackLanes::lane(std::size_t index) {
  while (lanes_.size() <= index) {
    lanes_.emplace_back(workers_, memory_);
    if (lanes_.size() > kNearLanes) free_lanes_.set(lanes_.size() - 1 - kNearLanes, lanes_.back().last_end());
    if (count_ != nullptr) count_->fetch_add(1, std::memory_order_relaxed);
  }
  return lanes_[index];
}

void TrackLanes::append(std::size_t index, std::span<const Event> events) {
  GrowingLane& own = lane(index);
  own.append(events);
  if (outer_first(last_, events.back())) last_ = events.back();
  if (index >= kNearLanes) free_lanes_.set(index - kNearLanes, own.last_end());
}

EventRun TrackLanes::reopen(std::size_t index, Nanoseconds t) {
  EventRun removed = lanes_[index].reopen(t);
  if (index >= kNearLanes) free_lanes_.set(index - kNearLanes, lanes_[index].last_end());
  return removed;
}

void TrackLanes::place(const Event& event, std::size_t first_lane) {
  std::size_t index = first_lane;
  // Events with duration 0 may share an instant: none of them is hidden, but their order must be kept.
  while (index < std::min(lanes_.size(), kNearLanes) && lanes_[index].last_end() > event.start) ++index;
  if (index >= kNearLanes) index = kNearLanes + free_lanes_.first_free(index - kNearLanes, event.start);
  append(index, {&event, 1});
}

std::uint64_t TrackLanes::reopening_cost(Nanoseconds t) const noexcept {
  std::uint64_t cost = lanes_.size();
  for (const GrowingLane& lane : lanes_) cost += lane.reopening_cost(t);
  return cost;
}

bool TrackLanes::may_rebuild(std::uint64_t cost) noexcept {
  constexpr std::uint64_t kTimes = 1;          // how often an event is placed again, on average, because others came late
  constexpr std::uint64_t kAlways = 1u << 14;  // events of a small track
  if (rebuilt_ + cost > kTimes * added_ + kAlways) return false;
  rebuilt_ += cost;
  return true;
}

void TrackLanes::add(std::vector<Event> events) {
  if (events.empty()) return;
  if (!std::is_sorted(events.begin(), events.end(), outer_first)) std::stable_sort(events.begin(), events.end(), outer_first);
  added_ += events.size();
  if (!outer_first(events.front(), last_)) return add_in_order(events);
  if (may_rebuild(reopening_cost(events.front().start))) {
    const Nanoseconds begin = events.front().start;
    std::vector<EventRun> runs;
    runs.emplace_back(std::move(events));
    return rebuild(std::move(runs), begin);
  }
  late_events_ += events.size();
  late_.push_back(std::move(events));
  settle_where_late_ones_are_many();
}

// Places the events, which are late and start at `begin` or later, and all events after that time. Of the latter, an event that started before the
// first late one gets its old place again: the lanes above it were busy then and still are.
void TrackLanes::rebuild(std::vector<EventRun> runs, Nanoseconds begin) {
  for (std::size_t index = 0; index < lanes_.size(); ++index)
    if (lanes_[index].last_start() >= begin) runs.push_back(reopen(index, begin));
  merge(std::move(runs), [this](std::span<const Event> events) { add_in_order(events); });
}

void TrackLanes::add_in_order(std::span<const Event> events) {
  // In the common case most events follow each other on the first lane.
  for (std::size_t first = 0, last = 0; first < events.size(); first = last) {
    last = first + 1;
    if (!lanes_.empty() && lanes_.front().last_end() > events[first].start) {
      place(events[first], 1);
      continue;
    }
    while (last < events.size() && events[last].start >= events[last - 1].end()) ++last;
    append(0, events.subspan(first, last - first));
  }
}

void TrackLanes::add_at_depths(std::vector<Event> events, std::span<const std::uint32_t> depths) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::is_sorted(events.begin(), events.end(), outer_first))
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return outer_first(events[a], events[b]); });
  added_ += events.size();
  std::vector<LateEvent> late;
  for (std::size_t i : order) {
    const std::uint32_t depth = lane_of_depth(depths[i]);
    if (lane(depth).last_end() <= events[i].start)
      append(depth, {&events[i], 1});
    else
      late.push_back({depth, events[i]});
  }
  if (!late.empty()) add_late(std::move(late));
  settle_where_late_ones_are_many();
}

// Those of one depth together, since the events behind them are placed again. Requires: they come in order.
void TrackLanes::add_late(std::vector<LateEvent> late) {
  const auto is_above = [](const LateEvent& a, const LateEvent& b) { return a.depth < b.depth; };
  if (!std::is_sorted(late.begin(), late.end(), is_above)) std::stable_sort(late.begin(), late.end(), is_above);
  for (auto first = late.begin(), last = first; first != late.end(); first = last) {
    last = std::upper_bound(first, late.end(), *first, is_above);
    if (may_rebuild(lane(first->depth).reopening_cost(first->event.start))) {
      std::vector<Event> run;
      for (auto each = first; each != last; ++each) run.push_back(each->event);
      insert(first->depth, one_run(std::move(run)));
    } else {
      late_by_depth_.insert(late_by_depth_.end(), first, last);
    }
  }
}

void TrackLanes::add_to_lane(std::uint32_t number, std::vector<Event> events) {
  if (number <= kDeepest && lane(number).last_end() <= events.front().start) {
    added_ += events.size();
    return append(number, events);
  }
  const std::vector<std::uint32_t> depths(events.size(), number);
  add_at_depths(std::move(events), depths);
}

// Puts late events among those of their depth. Requires: no run is empty.
void TrackLanes::insert(std::uint32_t depth, std::vector<EventRun> runs) {
  Nanoseconds begin = runs.front().front().start;
  for (const EventRun& run : runs) begin = std::min(begin, run.front().start);
  runs.insert(runs.begin(), reopen(depth, begin));
  merge(std::move(runs), [&](std::span<const Event> merged) {
    for (const Event& event : merged) place(event, depth);
  });
}

void TrackLanes::settle_where_late_ones_are_many() {
  constexpr std::uint64_t kFewest = 4'096;
  const std::uint64_t late = late_events_ + late_by_depth_.size();
  if (late >= std::max(kFewest, added_ / 2)) settle();
}

void TrackLanes::settle() {
  if (!late_.empty()) {
    std::sort(late_.begin(), late_.end(), [](const auto& a, const auto& b) { return outer_first(a.front(), b.front()); });
    const Nanoseconds begin = late_.front().front().start;
    std::vector<EventRun> runs;
    runs.reserve(late_.size() + lanes_.size());
    for (std::vector<Event>& run : late_) runs.emplace_back(std::move(run));
    late_.clear();
    late_.shrink_to_fit();
    late_events_ = 0;
    rebuild(std::move(runs), begin);
  }
  if (late_by_depth_.empty()) return;
  std::vector<LateEvent> late = std::exchange(late_by_depth_, {});
  const auto is_above = [](const LateEvent& a, const LateEvent& b) { return a.depth < b.depth; };
  if (!std::is_sorted(late.begin(), late.end(), is_above)) std::stable_sort(late.begin(), late.end(), is_above);
  for (std::size_t first = 0, last = 0; first < late.size(); first = last) {
    while (last < late.size() && late[last].depth == late[first].depth) ++last;
    insert(late[first].depth, runs_of(std::span(late).subspan(first, last - first)));
  }
}

// Events of one chunk came in order: they are merged if such runs are long, otherwise sorted.
std::vector<EventRun> TrackLanes::runs_of(std::span<const LateEvent> late) {
  constexpr std::size_t kWorthMerging = 64;  // events of a run
  std::vector<std::size_t> ends;             // of runs
  for (std::size_t i = 1; i < late.size() && ends.size() <= late.size() / kWorthMerging; ++i)
    if (outer_first(late[i].event, late[i - 1].event)) ends.push_back(i);
  const bool is_sorted_first = ends.size() > late.size() / kWorthMerging;
  if (is_sorted_first) ends.clear();
  ends.push_back(late.size());
  std::vector<EventRun> runs;
  runs.reserve(ends.size() + 1);
  for (std::size_t first = 0; const std::size_t end : ends) {
    std::vector<Event> events;
    events.reserve(end - first);
    for (; first < end; ++first) events.push_back(late[first].event);
    if (is_sorted_first) std::stable_sort(events.begin(), events.end(), outer_first);
    runs.emplace_back(std::move(events));
  }
  return runs;
}

}  // namespace lanescope
