#include "event_rows.h"

#include <xxhash.h>

#include <algorithm>
#include <queue>
#include <tuple>

namespace lanescope::query {
namespace {

constexpr std::uint32_t kEventsBetweenLooks = 1u << 12;  // between checks of the stop token

}  // namespace

const LaunchIndex& RowSource::launches() {
  if (!launches_) launches_.emplace(*trace_, stop_);
  return *launches_;
}

std::span<const std::uint64_t> RowSource::name_hashes() {
  if (hashes_.empty()) {
    hashes_.resize(trace_->name_count());
    for (NameId id = 0; id < hashes_.size(); ++id) hashes_[id] = XXH64(trace_->name(id).data(), trace_->name(id).size(), 0);
  }
  return hashes_;
}

std::uint32_t RowSource::depth(LaneId lane) {
  if (depths_.empty()) {
    depths_.resize(trace_->lanes().size());
    for (const Track& track : trace_->tracks())
      for (std::uint32_t position = 0; position < track.lanes.size(); ++position) depths_[track.lanes[position]] = position;
  }
  return depths_[lane];
}

// The events of several lanes in order of time: by start, outer before inner, then by the order of the lanes.
struct EventRows::Heads {
  struct Head {
    Nanoseconds start;
    Nanoseconds duration;
    EventRef event;
    EventIndex end;                                                   // one behind the lane's last selected event
    [[nodiscard]] bool operator<(const Head& other) const noexcept {  // true if it comes later, because a priority queue has its greatest element in front
      return std::tuple(other.start, duration, other.event.lane) < std::tuple(start, other.duration, event.lane);
    }
  };

  Heads(const Trace& of, std::optional<std::uint32_t> wanted) : trace(of), correlation(wanted) {}
  void add(LaneId id, EventIndex first, EventIndex last) {
    const Lane& lane = trace.lane(id);
    if (correlation && first < last) first = std::min(last, lane.find_correlation(*correlation, first));
    if (first < last) queue.push({lane.start(first), lane.duration(first), {id, first}, last});
  }
  EventRef take() {
    const Head first = queue.top();
    queue.pop();
    add(first.event.lane, first.event.index + 1, first.end);
    return first.event;
  }

  const Trace& trace;
  std::optional<std::uint32_t> correlation;
  std::priority_queue<Head> queue;
};

bool numbers_rows(const EventTable& table) {
  return std::any_of(table.columns.begin(), table.columns.end(), [](const EventColumnSource& column) { return column.name == "parent"; });
}

EventRows::EventRows(RowSource& source, const EventTable& table, const RowChoice& choice)
    : source_(source), table_(table), heads_(std::make_unique<Heads>(source.trace(), choice.correlation)), names_rows_(numbers_rows(table)) {
  for (const Track& track : source.trace().tracks()) {
    if (!table.has_track(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = source.trace().lane(id);
      std::pair<EventIndex, EventIndex> bounds{0, lane.size()};
      if (choice.window)
        bounds = choice.time == RowChoice::Time::kOverlaps ? lane.overlapping(*choice.window)
                                                           : std::pair{lane.lower_bound(choice.window->begin), lane.lower_bound(choice.window->end)};
      heads_->add(id, bounds.first, bounds.second);
    }
  }
}

EventRows::~EventRows() = default;

bool EventRows::next() {
  const Trace& trace = source_.trace();
  for (std::uint32_t seen = 0; !heads_->queue.empty(); ++seen) {
    if (seen % kEventsBetweenLooks == kEventsBetweenLooks - 1 && source_.stop().stop_requested()) return false;
    const EventRef ref = heads_->take();
    const Track& track = trace.track_of(ref.lane);
    const Event event = trace.event(ref);
    if (!table_.has(trace, track, event)) continue;
    row_.emplace(EventRow{trace, track, ref, event, {}, source_.depth(ref.lane), rows_++, {}, {}, {}});
    if (names_rows_) find_parent();
    return true;
  }
  return false;
}

const EventRow& EventRows::row_for(const EventColumnSource& column) {
  if (column.name == "name_hash" && row_->name_hashes.empty()) row_->name_hashes = source_.name_hashes();
  if (column.name.starts_with("launch_") && !row_->launch.valid()) {
    row_->launch = source_.launches().find(row_->track.key.process, row_->event.correlation, row_->event.start);
    if (row_->launch.valid()) row_->launch_call = row_->trace.event(row_->launch);
  }
  return *row_;
}

// Ranges are visited by start, outer before inner.
void EventRows::find_parent() {
  if (row_->track.key.kind != TrackKind::kNvtxRanges) return;
  const std::size_t depth = row_->depth;
  std::vector<Open>& open = open_[&row_->track];
  open.resize(std::max(open.size(), depth + 1));
  open[depth] = {row_->number, row_->event.end()};
  if (depth > 0 && open[depth - 1].row >= 0 && open[depth - 1].end >= row_->event.end()) row_->parent = open[depth - 1].row;
}

}  // namespace lanescope::query
