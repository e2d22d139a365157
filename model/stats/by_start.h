// Events of many lanes in the order of their starts. Internal to reports and rules.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::stats {

struct StartedEvent {
  Nanoseconds start = 0;
  TrackKind kind = TrackKind::kKernels;
  EventRef ref;
};

// The selected events of these kinds by start. O(n log lanes).
[[nodiscard]] inline std::vector<StartedEvent> events_by_start(const Selection& selection, std::initializer_list<TrackKind> kinds) {
  std::vector<StartedEvent> events;
  std::vector<std::size_t> runs{0};  // where each lane's events begin
  LaneId last = kNone;
  for (const TrackKind kind : kinds)
    selection.for_each(kind, [&](const Track&, const EventView& event) {
      if (event.ref.lane != last && !events.empty()) runs.push_back(events.size());
      last = event.ref.lane;
      events.push_back({event.start(), kind, event.ref});
    });
  runs.push_back(events.size());
  const auto by_start = [](const StartedEvent& a, const StartedEvent& b) { return a.start < b.start; };
  const auto at = [&](std::size_t position) { return events.begin() + static_cast<std::ptrdiff_t>(position); };
  // Lanes are sorted: merge neighbours until one run is left.
  while (runs.size() > 2) {
    std::vector<std::size_t> merged{0};
    for (std::size_t i = 0; i + 2 < runs.size(); i += 2) {
      std::inplace_merge(at(runs[i]), at(runs[i + 1]), at(runs[i + 2]), by_start);
      merged.push_back(runs[i + 2]);
    }
    if (runs.size() % 2 == 0) merged.push_back(runs.back());
    runs = std::move(merged);
  }
  return events;
}

}  // namespace lanescope::stats
