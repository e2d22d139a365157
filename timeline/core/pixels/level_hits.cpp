// Finds the event of a level under a pixel, or near a time.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "column_sums.h"
#include "timeline/core/pixels/level_pixels.h"

namespace lanescope::timeline {

PixelHit hit_test(const LevelContent& content, const Viewport& viewport, std::int32_t x) {
  PixelHit hit;
  const TimeRange window{viewport.time_at(x), std::max(viewport.time_at(x) + 1, viewport.time_at(std::int64_t{x} + 1))};
  Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();
  for (const ContentLane& each : content.lanes())
    each.visit([&](const auto& lane) {
      const EventIndex first = lane.lower_bound(window.begin);
      const EventIndex last = lane.lower_bound(window.end);
      add_events(hit.column, each, lane, window, first, last, lane.busy(window));
      const bool carried = first > 0 && lane.end(first - 1) > window.begin;
      if (!carried && first == last) return;
      const EventIndex candidate = last > first ? last - 1 : first - 1;
      const bool single = (last - first) + (carried ? 1 : 0) == 1;
      const bool wide = static_cast<double>(lane.duration(candidate)) >= kNarrowestBox * viewport.step();
      if ((single || wide) && lane.start(candidate) >= latest) {
        latest = lane.start(candidate);
        hit.event = each.ref(candidate);
      }
    });
  hit.column.busy = content.busy(window);
  return hit;
}

std::optional<Nanoseconds> nearest_edge(const LevelContent& content, Nanoseconds time, Nanoseconds tolerance) {
  std::optional<Nanoseconds> nearest;
  const auto consider = [&](Nanoseconds edge) {
    if (std::abs(edge - time) > tolerance) return;
    if (!nearest || std::abs(edge - time) < std::abs(*nearest - time)) nearest = edge;
  };
  for (const ContentLane& each : content.lanes())
    each.visit([&](const auto& lane) {
      const EventIndex next = lane.lower_bound(time);
      if (next < lane.size()) consider(lane.start(next));
      if (next == 0) return;
      consider(lane.start(next - 1));
      consider(lane.end(next - 1));
      if (next > 1) consider(lane.end(next - 2));
    });
  return nearest;
}

}  // namespace lanescope::timeline
