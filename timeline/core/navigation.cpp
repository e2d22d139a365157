#include "timeline/core/navigation.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "model/events/name_family.h"
#include "model/trace/combining/parts.h"
#include "model/trace/outline.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::timeline {
namespace {

std::optional<EventRef> of_same_name(const Lane& lane, EventRef event, int direction) {
  const NameId name = lane.name(event.index);
  const DemandedSegments* demanded = demanded_segments(lane);
  const auto lacks_it = [&](std::size_t segment) {
    if (demanded == nullptr) return false;
    const std::vector<NameTime>& names = demanded->bounds()[segment].names;
    return !names.empty() && std::none_of(names.begin(), names.end(), [name](const NameTime& each) { return each.name == name; });
  };
  for (std::int64_t index = std::int64_t{event.index} + direction; index >= 0 && index < lane.size();) {
    const std::int64_t segment = index / LaneSegment::kCapacity;
    if (lacks_it(static_cast<std::size_t>(segment))) {
      index = direction > 0 ? (segment + 1) * LaneSegment::kCapacity : segment * LaneSegment::kCapacity - 1;
      continue;
    }
    if (lane.name(static_cast<EventIndex>(index)) == name) return EventRef{event.lane, static_cast<EventIndex>(index)};
    index += direction;
  }
  return std::nullopt;
}

std::optional<EventRef> of_family(const Trace& trace, EventRef event, int direction) {
  const Lane& lane = trace.lane(event.lane);
  const std::string family = name_family(trace.name(lane.name(event.index)));
  std::unordered_map<NameId, bool> known;  // whether the name belongs to the family
  for (std::int64_t index = std::int64_t{event.index} + direction; index >= 0 && index < lane.size(); index += direction) {
    const NameId name = lane.name(static_cast<EventIndex>(index));
    const auto [entry, is_new] = known.try_emplace(name);
    if (is_new) entry->second = name_family(trace.name(name)) == family;
    if (entry->second) return EventRef{event.lane, static_cast<EventIndex>(index)};
  }
  return std::nullopt;
}

bool holds(const Event& outer, const Event& inner) { return outer.start <= inner.start && inner.end() <= outer.end(); }

// Lanes of a track are nesting depths for calls and ranges. If ranges or kernels overlap without being nested, the lane of the containing event may be several
// lanes away, or there is none.
std::optional<EventRef> outer(const Trace& trace, EventRef event) {
  const std::vector<LaneId>& lanes = trace.track_of(event.lane).lanes;
  const Event from = trace.event(event);
  for (auto lane = std::find(lanes.begin(), lanes.end(), event.lane); lane != lanes.begin();) {
    --lane;
    const auto at = trace.lane(*lane).at(from.start);
    if (at && holds(trace.event({*lane, *at}), from)) return EventRef{*lane, *at};
  }
  return std::nullopt;
}

std::optional<EventRef> inner(const Trace& trace, EventRef event) {
  const std::vector<LaneId>& lanes = trace.track_of(event.lane).lanes;
  const Event from = trace.event(event);
  for (auto lane = std::find(lanes.begin(), lanes.end(), event.lane) + 1; lane < lanes.end(); ++lane) {
    const EventIndex first = trace.lane(*lane).lower_bound(from.start);
    if (first < trace.lane(*lane).size() && holds(from, trace.event({*lane, first}))) return EventRef{*lane, first};
  }
  return std::nullopt;
}

// The clock that converted the lane's own times when the trace was combined with another.
ClockLine clock_of(const Trace& trace, LaneId lane) {
  const TracePart* const part = part_of(trace, trace.track_of(lane));
  return part == nullptr ? ClockLine() : part->clock;
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
      return outer(trace, event);
    case Neighbour::kInner:
      return inner(trace, event);
    case Neighbour::kPreviousOfSameName:
      return of_same_name(lane, event, -1);
    case Neighbour::kNextOfSameName:
      return of_same_name(lane, event, 1);
    case Neighbour::kPreviousOfFamily:
      return of_family(trace, event, -1);
    case Neighbour::kNextOfFamily:
      return of_family(trace, event, 1);
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
      const EventIndex after = events.lower_bound(time + 1);  // the first event that starts later
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
    return source.lane == event.lane && !source.is_derived() && (source.whole() || source.matches(trace, trace.event(event)));
  });
}

EventRef find_again(const Trace& before, EventRef event, const Trace& after) {
  if (!event.valid() || &before == &after) return event;
  const Event wanted = before.event(event);
  const TrackKey& key = before.track_of(event.lane).key;
  const auto start_in = [&, own = clock_of(before, event.lane).back(wanted.start)](LaneId lane) { return clock_of(after, lane)(own); };
  const auto has_name = [&](const Lane& lane, EventIndex index) {
    return after.name(lane.name(index)) == before.name(wanted.name);  // ids of names may differ
  };
  const bool from_outline = before.provenance().outline_only && !after.provenance().outline_only;
  if (!from_outline && event.lane < after.lanes().size() && after.track_of(event.lane).key == key) {
    const Lane& lane = after.lane(event.lane);
    if (event.index < lane.size() && lane.start(event.index) == start_in(event.lane) && has_name(lane, event.index)) return event;
  }
  // In an outline, an event stands for all events of its name in a part of time.
  const Nanoseconds bucket = from_outline ? before.extent().length() / static_cast<Nanoseconds>(kOutlineBuckets) + 1 : 0;
  EventRef found;
  for (const Track& track : after.tracks()) {
    if (track.key != key) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = after.lane(id);
      const Nanoseconds start = start_in(id);
      EventIndex index = lane.lower_bound(start);
      while (index < lane.size() && lane.start(index) <= start + bucket && !has_name(lane, index)) ++index;
      const bool is_here = index < lane.size() && lane.start(index) <= start + bucket;
      if (is_here && (!found.valid() || lane.start(index) < after.event(found).start)) found = {id, index};
    }
  }
  return found;
}

}  // namespace lanescope::timeline
