#include "lane_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lanescope {
namespace {

bool outer_first(const Event& a, const Event& b) {
  if (a.start != b.start) return a.start < b.start;
  return a.duration > b.duration;
}

}  // namespace

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
      full_.push_back(std::make_shared<const LaneSegment>(tail_));
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
  if (!tail_.empty() && stays(tail_.front()))
    return static_cast<std::uint64_t>(tail_.end() - std::partition_point(tail_.begin(), tail_.end(), stays));
  const auto first = std::lower_bound(segment_starts_.begin(), segment_starts_.end(), t);
  const auto segments = static_cast<std::uint64_t>(segment_starts_.end() - first) + (first != segment_starts_.begin() ? 1 : 0);
  return segments * LaneSegment::kCapacity + tail_.size();
}

void GrowingLane::reopen(Nanoseconds t, std::vector<Event>& removed) {
  if (last_end_ <= t && last_start_ < t) return;
  published_tail_.reset();
  settle();
  const auto stays = [t](Nanoseconds start, Nanoseconds duration) { return start < t && start + duration <= t; };
  const auto event_stays = [&](const Event& event) { return stays(event.start, event.duration); };
  std::vector<Event> tail = std::exchange(tail_, {});  // what lies behind the segments that are taken out
  std::vector<std::shared_ptr<const LaneSegment>> taken;
  if (tail.empty() || !event_stays(tail.front())) {
    while (!full_.empty()) {
      const EventIndex last = full_.back()->size() - 1;
      if (stays(full_.back()->start(last), full_.back()->duration(last))) break;
      taken.push_back(std::move(full_.back()));
      full_.pop_back();
      segment_starts_.pop_back();
    }
  }
  // Of the first that was taken out some may stay; it becomes the tail.
  std::size_t behind = 0;
  if (!taken.empty()) {
    for (auto segment = taken.rbegin(); segment != taken.rend(); ++segment) {
      const LaneSegment& from = **segment;
      EventIndex i = 0;
      if (segment == taken.rbegin())
        for (; i < from.size() && stays(from.start(i), from.duration(i)); ++i)
          tail_.push_back({from.start(i), from.duration(i), from.name(i), from.correlation(i), from.detail(i)});
      for (; i < from.size(); ++i)
        removed.push_back({from.start(i), from.duration(i), from.name(i), from.correlation(i), from.detail(i)});
      segment->reset();  // nobody needs both
    }
  } else {
    behind = static_cast<std::size_t>(std::partition_point(tail.begin(), tail.end(), event_stays) - tail.begin());
    tail_.assign(tail.begin(), tail.begin() + static_cast<std::ptrdiff_t>(behind));
  }
  removed.insert(removed.end(), tail.begin() + static_cast<std::ptrdiff_t>(behind), tail.end());
  set_last_event();
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

namespace {

constexpr std::size_t kNearLanes = 8;  // that are looked at one by one; further ones stand in the tree

}  // namespace

// Events in runs, each in order, that become one.
class SortedRuns {
 public:
  SortedRuns() = default;
  explicit SortedRuns(std::vector<Event> run) : events_(std::move(run)) { end_run(); }
  SortedRuns(std::vector<std::vector<Event>> runs, std::size_t event_count) {
    events_.reserve(event_count);
    for (std::vector<Event>& run : runs) {
      events_.insert(events_.end(), run.begin(), run.end());
      run = {};
      end_run();
    }
  }

  // To be appended to: what there is since the last call of end_run() is a run, where there is anything.
  [[nodiscard]] std::vector<Event>& events() noexcept { return events_; }
  void end_run() {
    if (events_.size() == (ends_.empty() ? 0 : ends_.back())) return;
    if (!ends_.empty() && !outer_first(events_[ends_.back()], events_[ends_.back() - 1])) ends_.pop_back();  // it goes on
    ends_.push_back(events_.size());
  }
  // Of the first run. Requires: it begins first.
  [[nodiscard]] Nanoseconds first_start() const noexcept { return events_.front().start; }

  // All in order; of equal ones those of earlier runs first. O(n log runs).
  [[nodiscard]] const std::vector<Event>& merged() {
    const auto at = [this](std::size_t index) { return events_.begin() + static_cast<std::ptrdiff_t>(index); };
    while (ends_.size() > 1) {
      std::vector<std::size_t> ends;
      std::size_t begin = 0;
      for (std::size_t i = 0; i < ends_.size(); i += 2) {
        const std::size_t end = ends_[std::min(i + 1, ends_.size() - 1)];
        std::inplace_merge(at(begin), at(ends_[i]), at(end), outer_first);
        ends.push_back(begin = end);
      }
      ends_ = std::move(ends);
    }
    return events_;
  }

 private:
  std::vector<Event> events_;
  std::vector<std::size_t> ends_;  // of runs
};

GrowingLane& TrackLanes::lane(std::size_t index) {
  while (lanes_.size() <= index) {
    lanes_.emplace_back(workers_);
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

void TrackLanes::reopen(std::size_t index, Nanoseconds t, std::vector<Event>& removed) {
  lanes_[index].reopen(t, removed);
  if (index >= kNearLanes) free_lanes_.set(index - kNearLanes, lanes_[index].last_end());
}

void TrackLanes::place(const Event& event, std::size_t first_lane) {
  std::size_t index = first_lane;
  // Events of no duration may share an instant: nothing of them is hidden, but their order must hold.
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
  constexpr std::uint64_t kTimes = 4;         // that an event is placed again, on average, because others came late
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
    SortedRuns runs(std::move(events));
    return rebuild(runs);
  }
  late_events_ += events.size();
  late_.push_back(std::move(events));
  settle_where_late_ones_are_many();
}

// Places the events, the first of which come late, and what lies behind them. Of that, an event that started before the first finds its old
// place again: the lanes above it were busy then and still are.
void TrackLanes::rebuild(SortedRuns& runs) {
  const Nanoseconds begin = runs.first_start();
  runs.events().reserve(runs.events().size() + reopening_cost(begin));  // to grow it would take as much again
  for (std::size_t index = 0; index < lanes_.size(); ++index) {
    if (lanes_[index].last_start() < begin) continue;
    reopen(index, begin, runs.events());
    runs.end_run();
  }
  add_in_order(runs.merged());
}

void TrackLanes::add_in_order(const std::vector<Event>& events) {
  // Most follow each other on the first lane.
  for (std::size_t first = 0, last = 0; first < events.size(); first = last) {
    last = first + 1;
    if (!lanes_.empty() && lanes_.front().last_end() > events[first].start) {
      place(events[first], 1);
      continue;
    }
    while (last < events.size() && events[last].start >= events[last - 1].end()) ++last;
    append(0, std::span(events).subspan(first, last - first));
  }
}

void TrackLanes::add_at_depths(std::vector<Event> events, std::span<const std::uint32_t> depths) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return outer_first(events[a], events[b]); });
  added_ += events.size();
  for (std::size_t i : order) {
    const std::uint32_t depth = lane_of_depth(depths[i]);
    const GrowingLane& own = lane(depth);
    if (own.last_end() <= events[i].start)
      append(depth, {&events[i], 1});
    else if (may_rebuild(own.reopening_cost(events[i].start)))
      insert(depth, {&events[i], 1});
    else
      late_by_depth_.push_back({depth, events[i]});
  }
  settle_where_late_ones_are_many();
}

void TrackLanes::add_to_lane(std::uint32_t number, std::vector<Event> events) {
  if (number <= kDeepest && lane(number).last_end() <= events.front().start) {
    added_ += events.size();
    return append(number, events);
  }
  const std::vector<std::uint32_t> depths(events.size(), number);
  add_at_depths(std::move(events), depths);
}

// Puts events that come late, and are in order, among those of their depth.
void TrackLanes::insert(std::uint32_t depth, std::span<const Event> events) {
  SortedRuns runs;
  reopen(depth, events.front().start, runs.events());
  runs.end_run();
  runs.events().insert(runs.events().end(), events.begin(), events.end());
  runs.end_run();
  for (const Event& event : runs.merged()) place(event, depth);
}

void TrackLanes::settle_where_late_ones_are_many() {
  constexpr std::uint64_t kFewest = 4'096;
  const std::uint64_t late = late_events_ + late_by_depth_.size();
  if (late >= std::max(kFewest, added_ / 2)) settle();
}

void TrackLanes::settle() {
  if (!late_.empty()) {
    std::sort(late_.begin(), late_.end(), [](const auto& a, const auto& b) { return outer_first(a.front(), b.front()); });
    SortedRuns runs(std::exchange(late_, {}), late_events_);
    late_events_ = 0;
    rebuild(runs);
  }
  if (late_by_depth_.empty()) return;
  std::vector<LateEvent> late = std::exchange(late_by_depth_, {});
  std::stable_sort(late.begin(), late.end(), [](const LateEvent& a, const LateEvent& b) {
    return a.depth != b.depth ? a.depth < b.depth : outer_first(a.event, b.event);
  });
  std::vector<Event> of_depth;
  for (std::size_t first = 0, last = 0; first < late.size(); first = last) {
    of_depth.clear();
    for (; last < late.size() && late[last].depth == late[first].depth; ++last) of_depth.push_back(late[last].event);
    insert(late[first].depth, of_depth);
  }
}

}  // namespace lanescope
