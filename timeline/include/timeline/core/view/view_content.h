// Everything that a view has of a trace besides the trace itself: its rows, their contents, and the pixels of what is in sight.
//
// While a recording grows, the content of its next snapshot is created on another thread, including pixels, and the view only swaps it in: painting waits for
// nothing and computes nothing that grows with the recording.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/lanes/segment_sums.h"
#include "timeline/core/pixels/counter_pixels.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_tree.h"
#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

// The present time in a running recording, on the axis of its trace; nothing if nothing is being recorded.
using Clock = std::optional<Nanoseconds>;

// The range that a view can show of a trace: all of it, extended to the clock if that is later, with some room before and after.
[[nodiscard]] TimeRange bounds_of(const Trace& trace, Clock clock = std::nullopt) noexcept;
// The initially visible range of a trace: all of it, but without the time in front of a part that was saved.
[[nodiscard]] TimeRange opening_range(const Trace& trace) noexcept;

// How long a row is busy in a part of time: while at least one of its lanes is; the mean of several sharers.
[[nodiscard]] Nanoseconds row_busy(const LevelContent& content, TimeRange range, std::size_t sharers);

// The state of a view that determines its next picture.
struct Sight {
  enum class Moves : std::uint8_t { kNo, kWithEnd, kWithAll };  // how the range moves as the trace grows
  TimeRange range;
  Moves moves = Moves::kNo;
  std::int32_t width = 0;   // device pixels
  std::int32_t height = 0;  // logical pixels
  std::int32_t scroll = 0;
  RowArrangement arrangement;
  RowMetrics metrics;
  std::string row_filter;
};

// The range of a view when the trace has these bounds: it follows the whole trace, or the newest event, with some room after it until `end`, or does not move.
[[nodiscard]] TimeRange range_after(const Sight& sight, TimeRange bounds, Nanoseconds end) noexcept;

// Places of pictures. Each shows another part of time.
enum class Pane : std::uint8_t { kRows, kOverview };

// The exact picture of content that takes long to read: of a trace whose events are not in memory (holds_events()), because its segments must be decoded, or of
// very many events. It is created on another thread than the one that paints. Threads: one at a time.
class Picture {
 public:
  // Requests these levels in this viewport for the pane.
  void want(Pane pane, std::vector<Level> levels, const Viewport& viewport);
  // Requests these levels, too, in the viewport of the rows: what is read serves both.
  void foresee_overview(std::vector<Level> levels) { foreseen_ = std::move(levels); }
  // The busy time of a row in a part of time, and the number of its events that start there.
  struct RowSum {
    TimeRange range;
    Nanoseconds busy = 0;
    std::uint64_t count = 0;
    std::size_t sharers = 1;  // as for row_busy()
  };
  void want(std::string row_key, Level level, TimeRange range, std::size_t sharers);
  // Requests the columns of a counter. Those in other viewports are forgotten.
  void want(CounterId counter, CounterSeries series, const Viewport& viewport) { wanted_counters_[counter] = {std::move(series), viewport}; }
  // Creates what was requested and is missing: rows before the overview, then sums, and counters last. Waits for the disk, and ends early when asked to stop;
  // finished parts stay. For a trace in memory, only levels, on all cores: painting then takes no time.
  void make(const std::stop_token& stop);
  // To be called when rows may differ from those that were summed.
  void forget_sums() { sums_.clear(); }

 private:
  friend class ViewContent;
  void add_up(const std::stop_token& stop);
  struct Wanted {
    std::vector<Level> levels;
    Viewport viewport;
  };
  struct WantedSum {
    Level level;
    RowSum sum;
  };
  void make_levels();
  void make_counters(const std::stop_token& stop);
  struct OfCounter {
    Viewport viewport;
    std::vector<CounterSummary> columns;
  };

  enum class Parts : std::uint8_t { kLevels, kAll } parts_ = Parts::kAll;
  std::map<Pane, Wanted> wanted_;
  std::vector<Level> foreseen_;
  std::map<std::string, WantedSum> wanted_sums_;
  ContentCache contents_;
  std::map<Pane, LevelRasterizer> pixels_;
  std::map<std::string, RowSum> sums_;
  std::map<CounterId, std::pair<CounterSeries, Viewport>> wanted_counters_;
  std::map<CounterId, OfCounter> counters_;
  bool has_forgotten_ = false;  // contents were freed that pixels elsewhere may refer to
};

// What is painted of some levels.
struct Painted {
  std::vector<const LevelContent*> contents;  // of each level
  LevelRasterizer* rasterizer = nullptr;      // which has their pixels
  enum class Detail : std::uint8_t { kExact, kOutline } detail = Detail::kExact;
};

// Threads: one at a time. Neither copyable nor movable, because layouts refer to the rows.
class ViewContent {
 public:
  // The reusable parts of an earlier content, for the content of a later snapshot. Created in O(rows + levels); may then be used in another thread.
  class Base {
   public:
    explicit Base(const ViewContent& content);

   private:
    friend class ViewContent;
    std::shared_ptr<const Trace> trace_;
    SegmentSums sums_;
    ContentCache contents_;
  };

  // If the events of the trace are not in memory, rows are based on what is known without decoding; a later content that is created from this one has all rows.
  explicit ViewContent(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked);
  // For a later snapshot, or the same one. O(added events) if it continues the previous one, else as without `before`.
  ViewContent(Base before, std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked, Clock clock = std::nullopt);
  ViewContent(const ViewContent&) = delete;
  ViewContent& operator=(const ViewContent&) = delete;

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }
  [[nodiscard]] TimeRange bounds() const noexcept { return bounds_; }
  [[nodiscard]] const RowTree& tree() const noexcept { return tree_; }
  // As RowTree::set_answer().
  void set_answer(const std::string& title, std::uint32_t levels) { tree_.set_answer(title, levels); }
  [[nodiscard]] ContentCache& contents() noexcept { return contents_; }
  [[nodiscard]] const ContentCache& contents() const noexcept { return contents_; }
  // True if every lane and name of the previous trace has the same id in this one.
  [[nodiscard]] bool continues() const noexcept { return continues_; }

  // The rasterizer for this viewport. It is shared, so that a window of the whole trace and the overview are computed once.
  [[nodiscard]] LevelRasterizer& rasterizer(const Viewport& viewport) { return viewport == Viewport{bounds_, viewport.width}.on_grid() ? of_all_ : of_window_; }
  // True if exact content requires decoding events.
  [[nodiscard]] bool is_on_demand() const noexcept { return on_demand_; }
  // What a thread paints that does not wait: the levels exactly if few events have to be read for them or if they are in a picture that was put, else in
  // outline. O(new content), but never O(events) if they are not in memory.
  [[nodiscard]] Painted painted(Pane pane, std::span<const Level* const> levels, const Viewport& viewport);
  // The levels of the overview if it shows this viewport, too, and is not in the picture that was put; else none.
  [[nodiscard]] std::vector<Level> overview_to_make(const Viewport& viewport) const;
  // The columns of a counter, from the picture that was put, or without decoding anything.
  [[nodiscard]] CounterColumns counter_columns(CounterId counter, const Viewport& viewport) const;
  // Returns the picture that was put last, so that the next requests can be added to it. Until it is put again, there is nothing to paint in those panes.
  [[nodiscard]] Picture take_picture(std::initializer_list<Pane> panes = {Pane::kRows, Pane::kOverview});
  void put(Picture picture);
  // True if a picture of the other content is valid for this one: events must be decoded for both, and every lane has the same segments with the same names.
  [[nodiscard]] bool has_pictures_of(const ViewContent& other) const;
  // Takes the pictures of such a content, except sums, because the rows may differ.
  void continue_pictures(ViewContent& other);
  // From the picture; nothing if it is not known for this range. The columns of a row that is drawn add up to it. O(width).
  [[nodiscard]] std::optional<Picture::RowSum> sum_of(const std::string& row_key, const Level& level, TimeRange range, std::size_t sharers);
  // The content of a level if it is available without a long computation; else null.
  [[nodiscard]] const LevelContent* at_hand(const Level& level);
  // Prepares on all cores what at_hand() will be asked for, unless that takes long.
  void make_at_once(std::span<const Level* const> levels);

  // The new range of a view with this sight. Events may arrive after the clock's time: a view that follows the end follows them.
  [[nodiscard]] TimeRange range_after(const Sight& sight) const noexcept;
  // Computes the pixels of a view with this sight, and of its overview.
  void compute_pixels(const Sight& sight, TimeRange range);
  // To be called when references to contents have become invalid (ContentCache).
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
  bool on_demand_ = false;
  ContentCache outlines_;
  std::map<Pane, LevelRasterizer> outline_pixels_;
  Picture picture_;
};

}  // namespace lanescope::timeline
