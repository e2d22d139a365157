#include "timeline/core/navigation.h"

#include <algorithm>

namespace lanescope::timeline {
namespace {

std::optional<EventRef> of_same_name(const Lane& lane, EventRef event, int direction) {
  const NameId name = lane.name(event.index);
  for (std::int64_t index = std::int64_t{event.index} + direction; index >= 0 && index < lane.size(); index += direction)
    if (lane.name(static_cast<EventIndex>(index)) == name) return EventRef{event.lane, static_cast<EventIndex>(index)};
  return std::nullopt;
}

// Lanes of a track are nesting depths for calls and ranges.
std::optional<EventRef> at_depth(const Trace& trace, EventRef event, int direction) {
  const std::vector<LaneId>& lanes = trace.track_of(event.lane).lanes;
  const auto own = std::find(lanes.begin(), lanes.end(), event.lane) - lanes.begin();
  const std::ptrdiff_t wanted = own + direction;
  if (wanted < 0 || wanted >= static_cast<std::ptrdiff_t>(lanes.size())) return std::nullopt;
  const LaneId id = lanes[static_cast<std::size_t>(wanted)];
  const Event from = trace.event(event);
  const auto [first, last] = trace.lane(id).overlapping({from.start, std::max(from.end(), from.start + 1)});
  if (first == last) return std::nullopt;
  return EventRef{id, first};
}

}  // namespace

std::optional<EventRef> neighbour(const Trace& trace, EventRef event, Neighbour which) {
  const Lane& lane = trace.lane(event.lane);
  switch (which) {
    case Neighbour::kPrevious:
      return event.index > 0 ? std::optional(EventRef{event.lane, event.index - 1}) : std::nullopt;
    case Neighbour::kNext:
      return event.index + 1 < lane.size() ? std::optional(EventRef{event.lane, event.index + 1}) : std::nullopt;
    case Neighbour::kOuter:
      return at_depth(trace, event, -1);
    case Neighbour::kInner:
      return at_depth(trace, event, 1);
    case Neighbour::kPreviousOfSameName:
      return of_same_name(lane, event, -1);
    case Neighbour::kNextOfSameName:
      return of_same_name(lane, event, 1);
  }
  return std::nullopt;
}

std::vector<EventRef> correlated_events(const Trace& trace, EventRef event) {
  if (!event.valid()) return {};
  const TrackKind kind = trace.track_of(event.lane).key.kind;
  if (kind == TrackKind::kCudaApi) return trace.work_of(event);
  if (!is_gpu_work(kind) && kind != TrackKind::kSynchronizations && kind != TrackKind::kCudaEvents) return {};
  std::vector<EventRef> related;
  if (const auto launch = trace.launch_of(event)) related.push_back(*launch);
  if (const auto awaited = trace.awaited_event(event)) related.push_back(*awaited);
  return related;
}

std::optional<EventRef> nearest_event(const LevelContent& content, Nanoseconds time) {
  std::optional<EventRef> nearest;
  Nanoseconds least = 0;
  for (const ContentLane& lane : content.lanes())
    lane.visit([&](const auto& events) {
      const EventIndex after = events.lower_bound(time + 1);  // the first that begins later
      for (EventIndex index = after > 0 ? after - 1 : 0; index < std::min<EventIndex>(after + 1, events.size()); ++index) {
        const Nanoseconds start = events.start(index), end = start + events.duration(index);
        const Nanoseconds distance = time < start ? start - time : std::max<Nanoseconds>(0, time - end);
        if (nearest && distance >= least) continue;
        nearest = lane.ref(index);
        least = distance;
      }
    });
  return nearest;
}

bool level_shows(const Trace& trace, const Level& level, EventRef event) {
  return std::any_of(level.begin(), level.end(), [&](const LaneSource& source) {
    return source.lane == event.lane && !source.on_gpu && (source.whole() || source.matches(trace, trace.event(event)));
  });
}

EventRef find_again(const Trace& before, EventRef event, const Trace& after) {
  if (!event.valid() || event.lane >= after.lanes().size()) return {};
  const Event wanted = before.event(event);
  const auto is_it = [&](EventRef candidate) {
    const Lane& lane = after.lane(candidate.lane);
    return candidate.index < lane.size() && lane.start(candidate.index) == wanted.start &&
           after.name(lane.name(candidate.index)) == before.name(wanted.name);  // ids of names may be others
  };
  if (is_it(event)) return event;
  const TrackKey& key = before.track_of(event.lane).key;
  for (const Track& track : after.tracks()) {
    if (track.key != key) continue;
    for (const LaneId id : track.lanes)
      if (const EventRef candidate{id, after.lane(id).lower_bound(wanted.start)}; is_it(candidate)) return candidate;
  }
  return {};
}

}  // namespace lanescope::timeline
