// The columns of lanes, and the events of a lane that are wide enough to be boxes.
#include "lane_columns.h"

#include <algorithm>
#include <utility>

namespace lanescope::timeline {

// Returns the event if it is wide enough.
template <typename Events>
std::optional<LevelPixels::Single> LevelRasterizer::single(const Events& events, EventIndex index) const {
  if (!is_wide(events.duration(index))) return std::nullopt;
  return LevelPixels::Single{index, events.name(index), events.detail(index), {events.start(index), events.end(index)}};
}

void LevelRasterizer::fill(const ContentLane& content, const TileTimes& times, const EdgesInTile& of_lane, LevelPixels::Tile& tile) const {
  content.visit([&](const auto& events) {
    auto edges = of_lane;
    if (content.subset) content.subset->ranks(of_lane, edges);
    tile.columns.clear();
    tile.singles.clear();
    tile.carried.reset();
    const bool carried = edges.front() > 0 && events.end(edges.front() - 1) > times.front();
    if (edges.front() == edges.back() && !carried) return;
    tile.columns.resize(kTileWidth);
    fill_columns(content, events, times, edges, tile.columns);
    // The event before an edge is seen singly if no other starts before the next edge: so every box is found at an edge, however many events there are.
    if (carried) tile.carried = single(events, edges.front() - 1);
    for (std::size_t edge = 1; edge < edges.size(); ++edge) {
      if (edges[edge] == edges[edge - 1]) continue;
      if (const auto seen = single(events, edges[edge] - 1)) tile.singles.push_back(*seen);
    }
  });
}

void LevelRasterizer::fill_by_parts(const ContentLane& content, const LaneInParts& events, const TileTimes& times, EdgesInTile& edges,
                                    LevelPixels::Tile& tile) const {
  tile.columns.clear();
  tile.singles.clear();
  tile.carried.reset();
  edges.front() = events.lower_bound(times.front());
  Nanoseconds last_end = edges.front() > 0 ? events.end(edges.front() - 1) : times.front();
  if (last_end > times.front()) tile.carried = single(events, edges.front() - 1);
  Nanoseconds busy_before = events.busy_before(times.front(), edges.front());
  for (std::size_t x = 0; x < static_cast<std::size_t>(kTileWidth); ++x) {
    const EventIndex edge = edges[x + 1] = std::max(edges[x], events.lower_bound(times[x + 1]));  // a damaged segment may be replaced meanwhile
    Nanoseconds busy = std::max<Nanoseconds>(0, std::min(last_end, times[x + 1]) - times[x]);
    if (edge != edges[x]) {
      const Nanoseconds before = std::exchange(busy_before, events.busy_before(times[x + 1], edge));
      busy = busy_before - before;
      last_end = events.end(edge - 1);
      if (is_wide(events.longest_around(edge - 1)))
        if (const auto seen = single(events, edge - 1)) tile.singles.push_back(*seen);
    } else {
      busy_before += busy;
    }
    if (busy == 0 && edge == edges[x]) continue;
    tile.columns.resize(kTileWidth);
    add_events(tile.columns[x], content, events, {times[x], times[x + 1]}, edges[x], edge, busy);
    tile.columns[x].busy = busy;
  }
}

bool LevelRasterizer::is_wide(Nanoseconds duration) const noexcept {
  return static_cast<double>(duration) * grid_.width >= kNarrowestBox * static_cast<double>(grid_.length);
}

}  // namespace lanescope::timeline
