// From events to pixel columns: what there is to paint of a level, exactly, at a cost that does not depend on how many events there are.
//
// Each column knows how much of its time is busy (its sum over the columns is the busy time of the window: nothing is sampled), how many
// events start in it, which name holds most of the time, and the longest event. Events wide enough to be seen singly are boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "timeline/core/level_content.h"
#include "timeline/core/viewport.h"

namespace lanescope::timeline {

struct Column {
  Nanoseconds busy = 0;    // in which at least one event runs
  Nanoseconds total = 0;   // sum over the lanes; more than busy where events of several lanes run at once
  EventIndex count = 0;    // events that start in the column
  EventIndex carried = 0;  // events that started before it and run on
  NameId dominant = 0;     // the name with most of the time, where one name has more than half of it; else a candidate
  Nanoseconds weight = 0;  // what of its time others do not cancel: its time is at least this, and at most half of weight + total
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

// Computes level after level. Lanes that several levels show are computed once for a viewport, and again only when it changes.
class LevelRasterizer {
 public:
  // O(lanes · width · log(events per pixel)), and O(lanes · width) for lanes that were computed for this viewport before.
  void rasterize(const LevelContent& content, const Viewport& viewport, LevelPixels& into);
  // The lanes are others: of another trace, or another snapshot.
  void forget() { computed_.clear(); }

 private:
  const LevelPixels& lane_pixels(const ContentLane& lane);
  void locate(const Lane& lane);
  void fill_columns(const ContentLane& lane, LevelPixels& into) const;
  void add_boxes(const ContentLane& lane, LevelPixels& into) const;
  void set_union(const IntervalUnion& merged, LevelPixels& into) const;

  Viewport viewport_;
  std::unordered_map<const Lane*, LevelPixels> computed_;  // no columns where the lane has nothing to show
  std::vector<Nanoseconds> times_;                         // of column edges, one more than there are columns
  std::vector<EventIndex> first_;                          // first event at or after each edge
  std::vector<Nanoseconds> busy_;                          // before each edge
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
