// The columns of one lane, from the events at their edges. Internal to timeline/core/pixels.
#pragma once

#include <algorithm>
#include <vector>

#include "column_sums.h"
#include "timeline/core/pixels/level_pixels.h"

namespace lanescope::timeline {

inline constexpr std::size_t kAhead = 12;  // columns: by then prefetched data has arrived

// Busy time before each edge of a column.
template <typename Events, typename Edges, typename Times>
Times busy_before_edges(const Events& lane, const Times& times, const Edges& edges) {
  Times busy;
  busy[0] = lane.busy_before(times[0], edges[0]);
  Nanoseconds last_end = edges[0] > 0 ? lane.end(edges[0] - 1) : times[0];
  for (std::size_t edge = 1; edge < kAhead; ++edge) lane.prefetch(edges[edge]);
  for (std::size_t edge = 1; edge < times.size(); ++edge) {
    if (edge + kAhead < edges.size()) lane.prefetch(edges[edge + kAhead]);
    if (edges[edge] == edges[edge - 1]) {
      busy[edge] = busy[edge - 1] + std::max<Nanoseconds>(0, std::min(last_end, times[edge]) - times[edge - 1]);
    } else {
      busy[edge] = lane.busy_before(times[edge], edges[edge]);
      last_end = lane.end(edges[edge] - 1);
    }
  }
  return busy;
}

template <typename Events, typename Edges, typename Times>
void fill_columns(const ContentLane& content, const Events& lane, const Times& times, const Edges& edges, std::vector<Column>& columns) {
  const Times busy_before = busy_before_edges(lane, times, edges);
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const Nanoseconds busy = busy_before[x + 1] - busy_before[x];
    if (busy == 0 && edges[x] == edges[x + 1]) continue;
    add_events(columns[x], content, lane, {times[x], times[x + 1]}, edges[x], edges[x + 1], busy);
    columns[x].busy = busy;
  }
}

}  // namespace lanescope::timeline
