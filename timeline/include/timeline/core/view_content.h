// All that a view has of a trace besides the trace itself: its rows, what they show, and the pixels of what is in sight.
//
// While a recording grows, the content of its next snapshot is made on another thread, pixels and all, and the view only has to put it in
// the place of what it has: painting waits for nothing and makes nothing that grows with the recording.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/trace/trace.h"
#include "timeline/core/level_content.h"
#include "timeline/core/level_pixels.h"
#include "timeline/core/row_layout.h"
#include "timeline/core/row_tree.h"
#include "timeline/core/segment_sums.h"
#include "timeline/core/viewport.h"

namespace lanescope::timeline {

// What time it is in a recording that goes on, on the axis of its trace; none where nothing is recorded.
using Clock = std::optional<Nanoseconds>;

// What a view can show of a trace: all of it, to the clock where that is later, with some room before and after.
[[nodiscard]] TimeRange bounds_of(const Trace& trace, Clock clock = std::nullopt) noexcept;

// What a view shows, as far as its next picture follows from it.
struct Sight {
  enum class Moves : std::uint8_t { kNo, kWithEnd, kWithAll };  // where the range goes as the trace grows
  TimeRange range;
  Moves moves = Moves::kNo;
  std::int32_t width = 0;   // device pixels
  std::int32_t height = 0;  // logical pixels
  std::int32_t scroll = 0;
  RowArrangement arrangement;
  RowMetrics metrics;
  std::string row_filter;
};

// Where the range of a view goes when the trace has these bounds: with all of it, with its newest event, after which there is some room to
// `end`, or nowhere.
[[nodiscard]] TimeRange range_after(const Sight& sight, TimeRange bounds, Nanoseconds end) noexcept;

// One thread at a time. Not to be copied or moved: layouts refer to the rows.
class ViewContent {
 public:
  // Where what is shown follows from an earlier one: what of it can be kept. Made in O(rows + levels); may be used in another thread then.
  class Base {
   public:
    explicit Base(const ViewContent& content);

   private:
    friend class ViewContent;
    std::shared_ptr<const Trace> trace_;
    SegmentSums sums_;
    ContentCache contents_;
  };

  explicit ViewContent(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked);
  // Of a later snapshot, or of the same. O(events that came) where it continues the one before, else as if there were none.
  ViewContent(Base before, std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked, Clock clock = std::nullopt);
  ViewContent(const ViewContent&) = delete;
  ViewContent& operator=(const ViewContent&) = delete;

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }
  [[nodiscard]] TimeRange bounds() const noexcept { return bounds_; }
  [[nodiscard]] const RowTree& tree() const noexcept { return tree_; }
  [[nodiscard]] ContentCache& contents() noexcept { return contents_; }
  [[nodiscard]] const ContentCache& contents() const noexcept { return contents_; }
  // Whether every lane and name of the trace before has the same id in this one.
  [[nodiscard]] bool continues() const noexcept { return continues_; }

  // For what is painted in this viewport: shared, so that a window of the whole trace and the overview of it are computed once.
  [[nodiscard]] LevelRasterizer& rasterizer(const Viewport& viewport) {
    return viewport == Viewport{bounds_, viewport.width}.on_grid() ? of_all_ : of_window_;
  }
  // Where the range of a view goes that is to show this. Events come later than the clock says: who follows the end follows them.
  [[nodiscard]] TimeRange range_after(const Sight& sight) const noexcept;
  // Computes what a view paints that shows this, and its overview.
  void compute_pixels(const Sight& sight, TimeRange range);
  // References to contents have ended (ContentCache).
  void forget_pixels();

 private:
  std::shared_ptr<const Trace> trace_;
  TimeRange bounds_;
  bool continues_ = false;
  SegmentSums sums_;
  RowTree tree_;
  ContentCache contents_;
  LevelRasterizer of_all_;
  LevelRasterizer of_window_;
};

}  // namespace lanescope::timeline
