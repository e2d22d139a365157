// Finds the corresponding event of another part of a trace.
#include <algorithm>
#include <vector>

#include "model/trace/combining/combine.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope {
namespace {

struct Start {
  Nanoseconds time;
  EventRef event;
  auto operator<=>(const Start&) const = default;
};

// The events of a part that have this kind and name, by start.
std::vector<Start> events_of(const Trace& trace, const TracePart& part, TrackKind kind, NameId name) {
  std::vector<Start> found;
  for (TrackId id = part.first_track; id < part.end_track; ++id) {
    const Track& track = trace.tracks()[id];
    if (track.key.kind != kind) continue;
    for (const LaneId lane_id : track.lanes) {
      const Lane& lane = trace.lane(lane_id);
      for_each_named(
          lane, [name](NameId other) { return other == name; },
          [&](EventIndex i) {
            found.push_back({lane.start(i), {lane_id, i}});
          });
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::optional<EventRef> counterpart(const Trace& trace, EventRef event) {
  const auto& parts = trace.parts();
  const Lane& lane = trace.lane(event.lane);
  const NameId name = lane.name(event.index);
  const Start own{lane.start(event.index), event};
  const Track& track = trace.track_of(event.lane);
  const std::size_t from = part_of(trace, track) == parts.data() ? 0 : 1;
  const std::vector<Start> before = events_of(trace, parts[from], track.key.kind, name);
  const std::vector<Start> others = events_of(trace, parts[1 - from], track.key.kind, name);
  const auto position = static_cast<std::size_t>(std::lower_bound(before.begin(), before.end(), own) - before.begin());
  return position < others.size() ? std::optional(others[position].event) : std::nullopt;
}

}  // namespace lanescope
