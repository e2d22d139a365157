// Visits the events of a selection on all cores. Internal to reports.
#pragma once

#include <algorithm>
#include <vector>

#include "model/stats/selection.h"
#include "model/trace/workers/parallel.h"
#include "model/trace/workers/usable_cores.h"

namespace lanescope::stats {

// Cuts the events that selection.for_each(kind) visits into parts of about equal length, one a core, and calls visit(Part&, const Track&, EventView)
// for each event: the events of a part in their order, different parts at the same time. Returns the parts in their order, so that their contents, put
// one after the other, do not depend on the number of cores.
template <typename Part, typename Visit>
[[nodiscard]] std::vector<Part> visit_in_parts(const Selection& selection, TrackKind kind, const Part& empty, const Visit& visit) {
  const std::vector<Selection::Stretch> stretches = selection.stretches(kind);
  std::uint64_t events = 0;
  for (const Selection::Stretch& stretch : stretches) events += stretch.size();
  const std::size_t count = usable_cores();
  std::vector<Part> parts(count, empty);
  std::vector<std::size_t> ends(count, stretches.size());  // end of each part, as a number of stretches
  std::uint64_t passed = 0;
  for (std::size_t i = 0, part = 0; i < stretches.size(); ++i) {
    passed += stretches[i].size();
    while (part + 1 < count && passed * count >= events * (part + 1)) ends[part++] = i + 1;
  }
  parallel_for(count, [&](std::size_t part) {
    const auto visit_one = [&](const Track& track, const EventView& event) { visit(parts[part], track, event); };
    for (std::size_t i = part == 0 ? 0 : ends[part - 1]; i < ends[part] && !selection.stop().stop_requested(); ++i) selection.for_each(stretches[i], visit_one);
  });
  return parts;
}

}  // namespace lanescope::stats
