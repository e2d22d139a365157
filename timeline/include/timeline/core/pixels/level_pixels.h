// From events to pixel columns: what there is to paint of a level, exactly, at a cost that does not depend on how many events there are.
//
// Each column knows how much of its time is busy (its sum over the columns is the busy time of the window: nothing is sampled), how many
// events start in it, which name holds most of the time, and the longest event. Events wide enough to be seen singly are boxes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

struct Column {
  Nanoseconds busy = 0;                  // in which at least one event runs
  Nanoseconds total = 0;                 // sum over the lanes; more than busy where events of several lanes run at once
  EventIndex count = 0;                  // events that start in the column
  EventIndex carried = 0;                // events that started before it and run on
  NameId dominant = 0;                   // the name with most of the time, where one name has more than half of it; else a candidate
  Nanoseconds weight = 0;                // as in LaneSummary: its time is at most half of weight + total
  TrackKind kind = TrackKind::kKernels;  // of the dominant name
  EventRef longest;                      // of the events in the column; not valid() when there are none
  Nanoseconds longest_duration = -1;
  NameId longest_name = 0;
  DetailId longest_detail = 0;
  bool operator==(const Column&) const = default;
};

// Whether one name stands for the column: what others do not cancel is more than 15 % of the time.
[[nodiscard]] inline bool has_dominant(const Column& column) noexcept { return column.weight * 100 > column.total * 15; }

// How much of the column's `step` ns is busy, 0 to 1: of several sharers, each; else at least one lane.
[[nodiscard]] inline double busy_share(const Column& column, double step, std::size_t sharers) noexcept {
  const Nanoseconds busy = sharers > 1 ? column.total : column.busy;
  return std::min(1.0, static_cast<double>(busy) / (step * static_cast<double>(sharers)));
}

struct Box {
  double left = 0;  // device pixels; may lie outside of the window
  double right = 0;
  EventRef event;
  TrackKind kind = TrackKind::kKernels;
  NameId name = 0;
  DetailId detail = 0;
  bool operator==(const Box&) const = default;
};

// Events narrower than this many device pixels get no box.
inline constexpr double kNarrowestBox = 3;

// Columns are computed and kept in tiles of as many. Tiles begin at the same times wherever the view is (see Viewport::on_grid).
inline constexpr std::int32_t kTileWidth = 64;

// What there is to paint of a level.
class LevelPixels {
 public:
  [[nodiscard]] std::int32_t width() const noexcept { return width_; }
  // Requires: 0 <= x < width().
  [[nodiscard]] const Column& column(std::int32_t x) const noexcept {
    const Tile& tile = tile_at(x);
    return tile.columns.empty() ? kNothing : tile.columns[static_cast<std::size_t>((x + offset_) % kTileWidth)];
  }
  // Calls use(x, column) for all columns but those of tiles with nothing in them.
  template <typename Use>
  void for_each_column(Use use) const {
    for (std::int32_t x = 0; x < width_;) {
      const Tile& tile = tile_at(x);
      const std::int32_t end = std::min(width_, x + kTileWidth - (x + offset_) % kTileWidth);
      if (tile.columns.empty()) x = end;
      for (; x < end; ++x) use(x, tile.columns[static_cast<std::size_t>((x + offset_) % kTileWidth)]);
    }
  }
  // By start; where lanes overlap, a later one is painted over an earlier one.
  [[nodiscard]] const std::vector<Box>& boxes() const noexcept { return boxes_; }

 private:
  friend class LevelRasterizer;
  static const Column kNothing;
  static constexpr std::int64_t kNoTile = std::numeric_limits<std::int64_t>::min();

  // An event that is wide enough to be seen singly.
  struct Single {
    EventIndex index = 0;
    NameId name = 0;
    DetailId detail = 0;
    TimeRange time;
  };
  struct Tile {
    std::int64_t number = kNoTile;  // of its first column on the grid, divided by the width of tiles
    std::vector<Column> columns;    // none where there is nothing
    std::vector<Single> singles;    // of one lane: those found at the edges of its columns, but the first
    std::optional<Single> carried;  // the one that began before the tile
  };
  [[nodiscard]] const Tile& tile_at(std::int32_t x) const noexcept {
    const auto place = static_cast<std::size_t>((x + offset_) / kTileWidth) + first_tile_;
    return tiles_[place < tiles_.size() ? place : place - tiles_.size()];
  }

  std::vector<Tile> tiles_;     // a ring: each tile has its place by its number
  std::size_t first_tile_ = 0;  // the place of the one with column 0
  std::int32_t offset_ = 0;     // columns of that tile before column 0
  std::int32_t width_ = 0;
  bool boxes_are_current_ = false;
  std::vector<Box> boxes_;
};

// Computes levels for one viewport at a time. A lane that several levels show is computed once, and when the view is panned, just the tiles
// that come into sight are. Levels of more than 512 lanes are columns alone, without boxes, so that their lanes take no memory.
class LevelRasterizer {
 public:
  // Computes these levels at once, on all cores; rasterize() then has them at hand. When asked to stop, some may not be.
  // O(lanes · width · log(events per pixel)) for what was not computed on this grid before.
  void prepare(std::span<const LevelContent* const> contents, const Viewport& viewport, const std::stop_token& stop = {});
  // Whether these levels are at hand for this viewport. O(lanes · tiles).
  [[nodiscard]] bool has(std::span<const LevelContent* const> contents, const Viewport& viewport) const;
  // Moves to the viewport of another one, and takes what that has of the lanes of these levels. O(lanes · width).
  void take_lanes(const LevelRasterizer& other, std::span<const LevelContent* const> contents);
  // What a level has in a part of time, by its columns. None where they are not at hand, or do not show all of that time, or one of them shows events in it
  // and may show others outside of it. O(lanes · log + width).
  struct Sum {
    Nanoseconds busy = 0;     // as LevelContent::busy()
    Nanoseconds total = 0;    // over the lanes
    std::uint64_t count = 0;  // as LevelContent::count()
  };
  [[nodiscard]] std::optional<Sum> sum(const LevelContent& content, TimeRange range) const;
  // The reference stays valid until another viewport or forget().
  const LevelPixels& rasterize(const LevelContent& content, const Viewport& viewport);
  // Which columns of a level that was rasterized last show a match. O(lanes · width · log).
  [[nodiscard]] std::vector<std::uint8_t> matching_columns(const LevelContent& content, EventMatches& matches) const;
  // The lanes are others: of another trace, or another snapshot.
  void forget();

 private:
  // How time is divided into columns: column k begins at (k · length + phase) / width.
  struct Grid {
    Nanoseconds length = 0;
    std::int32_t width = 0;
    std::int64_t phase = 0;  // [0, length)
    [[nodiscard]] Nanoseconds time_at(std::int64_t column) const noexcept;
    bool operator==(const Grid&) const = default;
  };
  using TileTimes = std::array<Nanoseconds, kTileWidth + 1>;  // edges of its columns, one more than there are
  // First event at or after each edge.
  using EdgesInTile = std::array<EventIndex, kTileWidth + 1>;
  struct TileEdges {
    std::int64_t number = LevelPixels::kNoTile;
    EdgesInTile edges;
  };
  using LaneEdges = std::vector<TileEdges>;  // a ring as in LevelPixels
  // A lane of the trace (no subset), or a subset of one.
  using LaneKey = std::pair<const Lane*, const LaneSubset*>;
  struct Job;
  struct OfLevel;
  struct Sharing;
  class Crowd;

  // Where a viewport lies on the grid that it divides time into.
  struct Place {
    Grid grid;
    std::int64_t first_column = 0;
    std::int64_t first_tile = 0;
    std::int64_t end_tile = 0;
  };
  [[nodiscard]] static Place place_of(const Viewport& viewport) noexcept;
  void look_at(const Viewport& viewport);
  [[nodiscard]] std::size_t place_of(std::int64_t tile) const noexcept;
  LevelPixels take_spare();
  void show(LevelPixels& pixels) const;
  [[nodiscard]] TileTimes times_in(std::int64_t tile) const;
  void run(Job& job, const std::stop_token& stop) const;
  [[nodiscard]] bool is_wide(Nanoseconds duration) const noexcept;
  void fill(const ContentLane& content, const TileTimes& times, const EdgesInTile& of_lane, LevelPixels::Tile& tile) const;
  // Of neighbouring tiles, from the first on.
  void gather(const LevelContent& content, std::span<const OfLevel> tiles, Sharing& sharing) const;
  void combine(const LevelContent& content, std::span<const OfLevel> tiles) const;
  [[nodiscard]] std::vector<const ContentLane*> lanes_within(const LevelContent& content, std::span<const OfLevel> tiles, std::size_t first,
                                                             std::size_t end) const;
  void collect_boxes(const ContentLane& content, const LevelPixels& of_lane, std::vector<Box>& into) const;
  template <typename Events>
  [[nodiscard]] std::optional<LevelPixels::Single> single(const Events& events, EventIndex index) const;

  Viewport viewport_;
  Grid grid_;
  std::int64_t first_column_ = 0;  // on the grid, of the viewport's first
  std::int64_t first_tile_ = 0;    // that is in sight, and the one behind the last
  std::int64_t end_tile_ = 0;
  std::size_t tile_count_ = 0;  // of rings; 0 before the first viewport
  std::map<const Lane*, LaneEdges> edges_;
  std::map<LaneKey, LevelPixels> lanes_;
  std::map<const LevelContent*, LevelPixels> combined_;  // levels of several lanes
  std::vector<LevelPixels> spare_;                       // no longer of use; their memory is
};

// What is under a pixel.
struct PixelHit {
  EventRef event;  // the one event there, if it can be told apart
  Column column;   // else, what is known of the column
};
// O(lanes · log n). Where boxes overlap, the one painted on top.
[[nodiscard]] PixelHit hit_test(const LevelContent& content, const Viewport& viewport, std::int32_t x);

// The event edge nearest to `time` within `tolerance`, for measuring between edges. O(lanes · log n).
[[nodiscard]] std::optional<Nanoseconds> nearest_edge(const LevelContent& content, Nanoseconds time, Nanoseconds tolerance);

}  // namespace lanescope::timeline
