#include "range_finder.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <queue>

#include "sweep_cost.h"

namespace lanescope {
namespace {

// The last range that began on each of some lanes; finds the innermost one that is still open.
class OpenRanges {
 public:
  explicit OpenRanges(std::size_t lanes) {
    while (leaves_ < lanes) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
  }

  void set(std::size_t lane, EventIndex index, Nanoseconds start, Nanoseconds end) {
    std::size_t node = leaves_ + lane;
    nodes_[node] = {start, end, index};
    for (node /= 2; node > 0; node /= 2) {
      nodes_[node].start = std::max(nodes_[2 * node].start, nodes_[2 * node + 1].start);
      nodes_[node].end = std::max(nodes_[2 * node].end, nodes_[2 * node + 1].end);
    }
  }

  struct Innermost {
    std::size_t lane = 0;
    EventIndex index = kNone;
    Nanoseconds start = INT64_MIN;
  };
  // Of the lanes [first, last), the range that began last and ends at `until` or later; among ranges that began together, the one of the last lane. Keeps
  // `best` if that began later.
  void find(std::size_t first, std::size_t last, Nanoseconds until, Innermost& best) const { look(1, 0, leaves_, first, last, until, best); }

 private:
  struct Node {
    Nanoseconds start = INT64_MIN;
    Nanoseconds end = INT64_MIN;
    EventIndex index = kNone;  // of a leaf
  };

  void look(std::size_t node, std::size_t begin, std::size_t end, std::size_t first, std::size_t last, Nanoseconds until, Innermost& best) const {
    if (end <= first || last <= begin || nodes_[node].end < until || nodes_[node].start <= best.start) return;
    if (node >= leaves_) {
      best = {begin, nodes_[node].index, nodes_[node].start};
      return;
    }
    const std::size_t middle = (begin + end) / 2;
    look(2 * node + 1, middle, end, first, last, until, best);  // deeper lanes began later, so mostly nothing is left to search then
    look(2 * node, begin, middle, first, last, until, best);
  }

  std::size_t leaves_ = 1;
  std::vector<Node> nodes_;  // a complete binary tree, the root at 1: latest start and latest end of the leaves below
};

// Iterates over the events of a lane of ranges, by start.
struct Cursor {
  const Lane* lane;
  EventIndex next;
  std::shared_ptr<const LaneSegment> segment;

  bool at_end() const { return next == lane->size(); }
  // Requires: !at_end().
  Nanoseconds start() {
    if (!segment || next % LaneSegment::kCapacity == 0) segment = lane->segment(next / LaneSegment::kCapacity);
    return segment->start(next % LaneSegment::kCapacity);
  }
};

}  // namespace

RangeFinder::RangeFinder(const EventValues& values) : values_(values) {
  for (const Track& track : values.trace().tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) ranges_of_thread_[track.key.thread].push_back(&track);
}

void RangeFinder::find(std::span<const EventRef> events, std::span<EventRef> ranges) const {
  const Trace& trace = values_.trace();
  std::unordered_map<ThreadId, std::vector<Asked>> asked_of_thread;
  for (std::size_t i = 0; i < events.size(); ++i) {
    ranges[i] = EventRef();
    const TrackKind kind = trace.track_of(events[i].lane).key.kind;
    EventRef call = events[i];
    if (is_on_stream(kind)) {
      const std::optional<EventRef> launch = trace.launch_of(call);
      if (!launch) continue;
      call = *launch;
    }
    const ThreadId thread = trace.track_of(call.lane).key.thread;
    if (thread == kNone || !ranges_of_thread_.contains(thread)) continue;
    const Lane& lane = trace.lane(call.lane);
    const Nanoseconds start = lane.start(call.index);
    if (start == INT64_MAX) continue;
    const Nanoseconds inside = start + 1;  // a range encloses the instant at which a call begins; it must enclose another range completely
    asked_of_thread[thread].push_back({i, call.lane, start, kind == TrackKind::kNvtxRanges ? std::max(inside, lane.end(call.index)) : inside});
  }
  for (auto& [thread, asked] : asked_of_thread) find_on_thread(ranges_of_thread_.at(thread), asked, events, ranges);
}

void RangeFinder::find_on_thread(const std::vector<const Track*>& tracks, std::vector<Asked>& asked, std::span<const EventRef> events,
                                 std::span<EventRef> ranges) const {
  const Trace& trace = values_.trace();
  const auto [earliest, latest] = std::minmax_element(asked.begin(), asked.end(), [](const Asked& a, const Asked& b) { return a.start < b.start; });
  const Nanoseconds from = earliest->start, until = latest->start;
  std::vector<LaneId> lanes;
  struct Place {
    std::size_t lane, end_of_track;  // indices in `lanes`
  };
  std::unordered_map<LaneId, Place> places;
  std::uint64_t passed = 0;
  for (const Track* track : tracks) {
    const std::size_t end_of_track = lanes.size() + track->lanes.size();
    for (const LaneId id : track->lanes) {
      passed += 1 + trace.lane(id).lower_bound(until + 1) - trace.lane(id).lower_bound(from);
      places.emplace(id, Place{lanes.size(), end_of_track});
      lanes.push_back(id);
    }
  }
  if (passed > swept_for(asked.size(), lanes.size())) {
    for (const Asked& one : asked)
      if (const std::optional<EventRef> range = values_.enclosing_range(events[one.position])) ranges[one.position] = *range;
    return;
  }

  OpenRanges open(lanes.size());
  std::vector<Cursor> cursors;
  using Next = std::pair<Nanoseconds, std::size_t>;  // start, and index in `lanes`
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = trace.lane(lanes[i]);
    Cursor& cursor = cursors.emplace_back(Cursor{&lane, lane.lower_bound(from), nullptr});
    if (cursor.next > 0) open.set(i, cursor.next - 1, lane.start(cursor.next - 1), lane.end(cursor.next - 1));
    if (!cursor.at_end()) next.emplace(cursor.start(), i);
  }
  std::sort(asked.begin(), asked.end(), [](const Asked& a, const Asked& b) { return a.start < b.start; });
  for (const Asked& one : asked) {
    while (!next.empty() && next.top().first <= one.start) {
      const auto [start, i] = next.top();
      next.pop();
      Cursor& cursor = cursors[i];
      open.set(i, cursor.next, start, start + cursor.segment->duration(cursor.next % LaneSegment::kCapacity));
      ++cursor.next;
      if (!cursor.at_end()) next.emplace(cursor.start(), i);
    }
    // Deeper ranges of its own domain do not enclose it.
    const auto own = places.find(one.lane);
    OpenRanges::Innermost innermost;
    if (own == places.end()) {
      open.find(0, lanes.size(), one.until, innermost);
    } else {
      open.find(own->second.end_of_track, lanes.size(), one.until, innermost);
      open.find(0, own->second.lane, one.until, innermost);
    }
    if (innermost.index != kNone) ranges[one.position] = {lanes[innermost.lane], innermost.index};
  }
}

}  // namespace lanescope
