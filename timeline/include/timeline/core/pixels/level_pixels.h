// Converts events into pixel columns: the exact content of a level, at a cost that does not depend on the number of events.
//
// Each column has its busy time (the sum over the columns is the busy time of the window: nothing is sampled), the number of events that start in it, the name
// with most of the time, and the longest event. Events that are wide enough to be seen singly are boxes.
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

#include "model/trace/segments/lane_in_parts.h"
#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

enum class Segments : std::uint8_t;

struct Column {
  Nanoseconds busy = 0;                  // in which at least one event runs
  Nanoseconds total = 0;                 // sum over the lanes; exceeds `busy` if events of several lanes run at once
  EventIndex count = 0;                  // events that start in the column
  EventIndex carried = 0;                // events that started before it and continue
  NameId dominant = 0;                   // the name with most of the time, if one name has more than half of it; else a candidate
  Nanoseconds weight = 0;                // as in LaneSummary: its time is at most half of weight + total
  TrackKind kind = TrackKind::kKernels;  // of the dominant name
  EventRef longest;                      // among the events in the column; not valid() if there are none
  Nanoseconds longest_duration = -1;
  NameId longest_name = 0;
  DetailId longest_detail = 0;  // 0 if it does not determine the colour: to find it takes longer than all else of a column that is read in parts
  bool operator==(const Column&) const = default;
};

// True if one name stands for the column: what other names do not cancel is more than 15 % of the time.
[[nodiscard]] inline bool has_dominant(const Column& column) noexcept { return column.weight * 100 > column.total * 15; }

// The busy share of the column's `step` ns, 0 to 1: the mean of the sharers if there are several; else of at least one lane.
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

// Columns are computed and kept in tiles of this width. Tiles start at the same times wherever the view is (see Viewport::on_grid).
inline constexpr std::int32_t kTileWidth = 64;

// What to paint of a level.
class LevelPixels {
 public:
  [[nodiscard]] std::int32_t width() const noexcept { return width_; }
  // Requires: 0 <= x < width().
  [[nodiscard]] const Column& column(std::int32_t x) const noexcept {
    const Tile& tile = tile_at(x);
    return tile.columns.empty() ? kNothing : tile.columns[static_cast<std::size_t>((x + offset_) % kTileWidth)];
  }
  // Calls use(x, column) for all columns except those of empty tiles.
  template <typename Use>
  void for_each_column(Use use) const {
    for (std::int32_t x = 0; x < width_;) {
      const Tile& tile = tile_at(x);
      const std::int32_t end = std::min(width_, x + kTileWidth - (x + offset_) % kTileWidth);
      if (tile.columns.empty()) x = end;
      for (; x < end; ++x) use(x, tile.columns[static_cast<std::size_t>((x + offset_) % kTileWidth)]);
    }
  }
  // By start; if lanes overlap, a later box is painted over an earlier one.
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
    std::vector<Column> columns;    // empty if the tile has no events
    std::vector<Single> singles;    // of one lane: those found at the edges of its columns, except the first edge
    std::optional<Single> carried;  // the one that started before the tile
  };
  [[nodiscard]] const Tile& tile_at(std::int32_t x) const noexcept {
    const auto place = static_cast<std::size_t>((x + offset_) / kTileWidth) + first_tile_;
    return tiles_[place < tiles_.size() ? place : place - tiles_.size()];
  }

  std::vector<Tile> tiles_;     // a ring: the place of a tile follows from its number
  std::size_t first_tile_ = 0;  // the place of the tile with column 0
  std::int32_t offset_ = 0;     // columns of that tile before column 0
  std::int32_t width_ = 0;
  bool boxes_are_current_ = false;
  std::vector<Box> boxes_;
};

// Computes levels for one viewport at a time. A lane in several levels is computed once, and when the view is panned, only tiles that come into sight are
// computed. Levels of more than 512 lanes have only columns, no boxes, so that their lanes take no memory.
class LevelRasterizer {
 public:
  // Computes these levels at once, on all cores; rasterize() then returns them immediately. When asked to stop, some may be missing. O(lanes · width ·
  // log(events per pixel)) for what was not computed on this grid before.
  void prepare(std::span<const LevelContent* const> contents, const Viewport& viewport, const std::stop_token& stop = {});
  // True if these levels are computed for this viewport. O(lanes · tiles).
  [[nodiscard]] bool has(std::span<const LevelContent* const> contents, const Viewport& viewport) const;
  // Moves to the viewport of another rasterizer, and takes its results for these levels and their lanes. O(lanes · width).
  void take(const LevelRasterizer& other, std::span<const LevelContent* const> contents);
  // The sum of a level in a part of time, from its columns. Nothing if they are not computed, do not cover the whole time, or one of them has events in it and
  // may have others outside of it. O(lanes · log + width).
  struct Sum {
    Nanoseconds busy = 0;     // as LevelContent::busy()
    Nanoseconds total = 0;    // over the lanes
    std::uint64_t count = 0;  // as LevelContent::count()
  };
  [[nodiscard]] std::optional<Sum> sum(const LevelContent& content, TimeRange range) const;
  // The reference stays valid until the viewport changes or forget().
  const LevelPixels& rasterize(const LevelContent& content, const Viewport& viewport);
  // The columns of the level that was rasterized last that show a match. O(lanes · width · log).
  [[nodiscard]] std::vector<std::uint8_t> matching_columns(const LevelContent& content, EventMatches& matches) const;
  // To be called when lanes change: with another trace or another snapshot.
  void forget();

 private:
  // Divides time into columns: column k starts at (k · length + phase) / width.
  struct Grid {
    Nanoseconds length = 0;
    std::int32_t width = 0;
    std::int64_t phase = 0;  // [0, length)
    [[nodiscard]] Nanoseconds time_at(std::int64_t column) const noexcept;
    bool operator==(const Grid&) const = default;
  };
  using TileTimes = std::array<Nanoseconds, kTileWidth + 1>;  // edges of its columns, one more than there are
  // The first event at or after each edge.
  using EdgesInTile = std::array<EventIndex, kTileWidth + 1>;
  struct TileEdges {
    std::int64_t number = LevelPixels::kNoTile;
    EdgesInTile edges;
  };
  using LaneEdges = std::vector<TileEdges>;  // a ring as in LevelPixels
  // A lane of the trace (no subset), or a subset of one.
  using LaneKey = std::pair<const Lane*, const LaneSubset*>;
  struct Job;
  struct OnDemand;
  struct OfLevel;
  struct Sharing;
  struct Combination;
  class Crowd;

  // The place of a viewport on its grid.
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
  [[nodiscard]] Nanoseconds time_of_tile(std::int64_t number) const noexcept;
  void prepare(OnDemand& work, const std::stop_token& stop) const;
  void run(std::span<Job> jobs, const std::stop_token& stop) const;
  void run(Job& job, const std::stop_token& stop) const;
  static void forget_undone(std::span<const OfLevel> tiles);
  [[nodiscard]] bool is_wide(Nanoseconds duration) const noexcept;
  void fill(const ContentLane& content, const TileTimes& times, const EdgesInTile& of_lane, LevelPixels::Tile& tile) const;
  // The same in one pass over the lane, in which the edges are found as well: so each part of a segment is decoded once.
  void fill_by_parts(const ContentLane& content, const LaneInParts& events, const TileTimes& times, EdgesInTile& edges, LevelPixels::Tile& tile) const;
  // For neighbouring tiles, starting with the first.
  void gather(const LevelContent& content, std::span<const OfLevel> tiles, Sharing& sharing) const;
  void combine(std::span<OfLevel> tiles) const;
  // The same for levels whose events have to be read: each is read once for all levels.
  void combine_together(std::span<const std::span<OfLevel>> levels, Segments segments, const std::stop_token& stop) const;
  // The columns of the lanes, merged, and what is left to be done: the union of the lanes in some columns.
  [[nodiscard]] Combination merged(std::span<OfLevel> tiles) const;
  static void finish(const Combination& combination);
  void unite_together(std::span<Combination* const> levels, std::int64_t first, std::int64_t end, const std::stop_token& stop) const;
  // The lanes that are busy in a part of the columns, except in columns without a union; all lanes if that is not known.
  [[nodiscard]] std::vector<const ContentLane*> lanes_within(const Combination& combination, std::size_t first, std::size_t end) const;
  void collect_boxes(const ContentLane& content, const LevelPixels& of_lane, std::vector<Box>& into) const;
  template <typename Events>
  [[nodiscard]] std::optional<LevelPixels::Single> single(const Events& events, EventIndex index) const;

  Viewport viewport_;
  Grid grid_;
  std::int64_t first_column_ = 0;  // first column of the viewport on the grid
  std::int64_t first_tile_ = 0;    // first tile in sight; the next member is one past the last
  std::int64_t end_tile_ = 0;
  std::size_t tile_count_ = 0;  // of rings; 0 before the first viewport
  std::map<const Lane*, LaneEdges> edges_;
  std::map<LaneKey, LevelPixels> lanes_;
  std::map<const LevelContent*, LevelPixels> combined_;  // levels of several lanes
  std::vector<LevelPixels> spare_;                       // no longer used; their memory is reused
};

// What is under a pixel.
struct PixelHit {
  EventRef event;  // the event, if it is a single one
  Column column;   // else the facts about the column
};
// O(lanes · log n). If boxes overlap, returns the one painted on top.
[[nodiscard]] PixelHit hit_test(const LevelContent& content, const Viewport& viewport, std::int32_t x);

// The start or end of an event nearest to `time` within `tolerance`, for measuring between edges. O(lanes · log n).
[[nodiscard]] std::optional<Nanoseconds> nearest_edge(const LevelContent& content, Nanoseconds time, Nanoseconds tolerance);

}  // namespace lanescope::timeline
