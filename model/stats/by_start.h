// Events of many lanes in the order of their starts. Internal to reports and rules.
#pragma once

#include <initializer_list>
#include <vector>

#include "model/stats/selection.h"
#include "natural_sort.h"

namespace lanescope::stats {

struct StartedEvent {
  Nanoseconds start = 0;
  TrackKind kind = TrackKind::kKernels;
  EventRef ref;
};

// The selected events of these kinds by start. O(n log lanes).
[[nodiscard]] inline std::vector<StartedEvent> events_by_start(const Selection& selection, std::initializer_list<TrackKind> kinds) {
  std::vector<StartedEvent> events;
  for (const TrackKind kind : kinds)
    selection.for_each(kind, [&](const Track&, const EventView& event) { events.push_back({event.start(), kind, event.ref}); });
  natural_sort(events, [](const StartedEvent& a, const StartedEvent& b) { return a.start < b.start; });
  return events;
}

}  // namespace lanescope::stats
