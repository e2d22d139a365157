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

void GrowingLane::reopen(Nanoseconds t, std::vector<Event>& removed) {
  if (last_end_ <= t && last_start_ < t) return;
  published_tail_.reset();
  settle();
  while (!full_.empty() && (tail_.empty() || tail_.front().end() > t || tail_.front().start >= t)) {
    const LaneSegment& last = *full_.back();
    const EventIndex n = last.size();
    if (last.start(n - 1) < t && last.start(n - 1) + last.duration(n - 1) <= t) break;
    std::vector<Event> events;
    events.reserve(n + tail_.size());
    for (EventIndex i = 0; i < n; ++i)
      events.push_back({last.start(i), last.duration(i), last.name(i), last.correlation(i), last.detail(i)});
    full_.pop_back();
    removed.insert(removed.end(), tail_.begin(), tail_.end());
    tail_ = std::move(events);
  }
  const auto first = std::partition_point(tail_.begin(), tail_.end(), [t](const Event& e) { return e.start < t && e.end() <= t; });
  removed.insert(removed.end(), first, tail_.end());
  tail_.erase(first, tail_.end());
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

GrowingLane& TrackLanes::lane(std::size_t index) {
  while (lanes_.size() <= index) lanes_.emplace_back(workers_);
  return lanes_[index];
}

void TrackLanes::place(const Event& event, std::size_t first_lane) {
  std::size_t index = first_lane;
  // Events of no duration may share an instant: nothing of them is hidden, but their order must hold.
  while (index < lanes_.size() && !lanes_[index].empty() && lanes_[index].last_end() > event.start) ++index;
  lane(index).append({&event, 1});
}

void TrackLanes::add(std::vector<Event> events) {
  if (events.empty()) return;
  if (!std::is_sorted(events.begin(), events.end(), outer_first)) std::stable_sort(events.begin(), events.end(), outer_first);
  const Nanoseconds begin = events.front().start;
  std::vector<Event> removed;
  // Of what is taken out, an event that started before `begin` finds its old place again: the lanes above it were busy then and still are.
  for (GrowingLane& lane : lanes_)
    if (lane.last_start() >= begin) lane.reopen(begin, removed);
  if (!removed.empty()) {
    events.insert(events.end(), removed.begin(), removed.end());
    std::stable_sort(events.begin(), events.end(), outer_first);
  }
  // Most follow each other on the first lane.
  for (std::size_t first = 0, last = 0; first < events.size(); first = last) {
    last = first + 1;
    if (!lanes_.empty() && !lanes_.front().empty() && lanes_.front().last_end() > events[first].start) {
      place(events[first], 1);
      continue;
    }
    while (last < events.size() && events[last].start >= events[last - 1].end()) ++last;
    lane(0).append(std::span(events).subspan(first, last - first));
  }
}

void TrackLanes::add_at_depths(std::vector<Event> events, std::span<const std::uint32_t> depths) {
  constexpr std::uint32_t kDeepest = 511;  // a damaged depth must not create millions of lanes
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return outer_first(events[a], events[b]); });
  for (std::size_t i : order) {
    const std::uint32_t depth = std::min(depths[i], kDeepest);
    GrowingLane& own = lane(depth);
    if (own.empty() || own.last_end() <= events[i].start) {
      own.append({&events[i], 1});
      continue;
    }
    // It comes late: put it in order among those of its depth that lie behind it.
    std::vector<Event> behind;
    own.reopen(events[i].start, behind);
    behind.push_back(events[i]);
    std::stable_sort(behind.begin(), behind.end(), outer_first);
    for (const Event& event : behind) place(event, depth);
  }
}

}  // namespace lanescope
