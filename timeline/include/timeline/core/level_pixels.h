// From events to pixel columns: what there is to paint of a level, exactly, at a cost that does not depend on how many events there are.
//
// Each column knows how much of its time is busy (its sum over the columns is the busy time of the window: nothing is sampled), how many
// events start in it, which name holds most of the time, and the longest event. Events wide enough to be seen singly are boxes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "timeline/core/event_matches.h"
#include "timeline/core/level_content.h"
#include "timeline/core/viewport.h"

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
};

// Whether one name stands for the column: what others do not cancel is more than 15 % of the time.
[[nodiscard]] inline bool has_dominant(const Column& column) noexcept { return column.weight * 100 > column.total * 15; }

struct Box {
  double left = 0;  // device pixels; may lie outside of the window
  double right = 0;
  EventRef event;
  TrackKind kind = TrackKind::kKernels;
  NameId name = 0;
};

struct LevelPixels {
  std::vector<Column> columns;  // one a device pixel
  std::vector<Box> boxes;       // by start; where lanes overlap, a later one is painted over an earlier one
};

// Events narrower than this many device pixels get no box.
inline constexpr double kNarrowestBox = 3;

// Computes levels for one viewport at a time. A lane that several levels show is computed once.
class LevelRasterizer {
 public:
  // Computes these levels at once, on all cores; rasterize() then has them at hand.
  // O(lanes · width · log(events per pixel)) for what was not computed for this viewport before.
  void prepare(std::span<const LevelContent* const> contents, const Viewport& viewport);
  // The reference stays valid until another viewport, another prepare() or forget().
  const LevelPixels& rasterize(const LevelContent& content, const Viewport& viewport);
  // Which columns of a level that was rasterized last show a match. O(lanes · width · log).
  [[nodiscard]] std::vector<std::uint8_t> matching_columns(const LevelContent& content, EventMatches& matches) const;
  // The lanes are others: of another trace, or another snapshot.
  void forget();

 private:
  // First event at or after each edge of a column, one more than there are columns.
  using Edges = std::vector<EventIndex>;
  // A lane of the trace (no subset), or a subset of one.
  using LaneKey = std::pair<const Lane*, const LaneSubset*>;

  void look_at(const Viewport& viewport);
  LevelPixels take_spare();
  void compute_lane(const ContentLane& lane, LevelPixels& into) const;
  void combine_lanes(const LevelContent& content, LevelPixels& into) const;

  Viewport viewport_;
  std::vector<Nanoseconds> times_;  // of column edges, one more than there are columns
  std::map<const Lane*, Edges> edges_;
  std::map<LaneKey, LevelPixels> lanes_;                 // no columns where the lane has nothing to show
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
