// What the files of LevelRasterizer share. Internal to timeline/core/pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "timeline/core/pixels/level_pixels.h"

namespace lanescope::timeline {

// The lanes of a level whose columns and boxes are kept: none if there are so many that boxes could not be distinguished.
inline std::span<const ContentLane> kept_lanes(const LevelContent& content) noexcept {
  return content.lanes().size() <= LevelContent::kManyLanes ? std::span(content.lanes()) : std::span<const ContentLane>();
}

// Passes tiles of levels to `use`, neighbouring ones of a level together.
template <typename Tile, typename Use>
void for_neighbours(std::span<Tile> tiles, Use use) {
  for (auto first = tiles.begin(); first != tiles.end();) {
    auto end = first + 1;
    while (end != tiles.end() && end->content == first->content && end->number == (end - 1)->number + 1) ++end;
    use(std::span(first, end));
    first = end;
  }
}

// How many segments of a lane have events in a part of time, or lie between such events and it. O(log segments).
inline std::size_t segments_within(const Lane& lane, TimeRange range) noexcept {
  const std::size_t first = lane.segment_at(range.begin);
  if (first == lane.segment_count() || lane.segment_start(first) >= range.end) return 0;
  return std::min(lane.segment_at(range.end), lane.segment_count() - 1) - first + 1;
}

// Whether undecoded segments stay in memory while several parts of the work ask for them.
enum class Segments : std::uint8_t { kAreKept, kAreReadAgain };

// A tile of a level that combines lanes.
struct LevelRasterizer::OfLevel {
  const LevelContent* content;
  LevelPixels::Tile* tile;
  std::int64_t number;
  bool done = false;
};

}  // namespace lanescope::timeline
