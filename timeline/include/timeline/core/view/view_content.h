// All that a view has of a trace besides the trace itself: its rows, what they show, and the pixels of what is in sight.
//
// While a recording grows, the content of its next snapshot is made on another thread, pixels and all, and the view only has to put it in
// the place of what it has: painting waits for nothing and makes nothing that grows with the recording.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/lanes/segment_sums.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_tree.h"
#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

// What time it is in a recording that goes on, on the axis of its trace; none where nothing is recorded.
using Clock = std::optional<Nanoseconds>;

// What a view can show of a trace: all of it, to the clock where that is later, with some room before and after.
[[nodiscard]] TimeRange bounds_of(const Trace& trace, Clock clock = std::nullopt) noexcept;
// What is shown of a trace at first: all of it, but of a part that was saved not what lies in front of it.
[[nodiscard]] TimeRange opening_range(const Trace& trace) noexcept;

// How long a row is busy in a part of time: while at least one of its lanes is; of several sharers, on average.
[[nodiscard]] Nanoseconds row_busy(const LevelContent& content, TimeRange range, std::size_t sharers);

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

// Where pictures are shown, each of another part of time.
enum class Pane : std::uint8_t { kRows, kOverview };

// The exact picture of what takes long to look at: of a trace whose events are not in memory (holds_events()), as segments must be decoded for it,
// or of very many events. It is made on another thread than the one that paints. One thread at a time.
class Picture {
 public:
  // These levels in this viewport are wanted there.
  void want(Pane pane, std::vector<Level> levels, const Viewport& viewport);
  // These levels are wanted next, in the viewport in which rows are now: what is made of a lane serves both.
  void foresee_overview(std::vector<Level> levels) { foreseen_ = std::move(levels); }
  // The busy time of a row in a part of time, and how many of its events begin there.
  struct RowSum {
    TimeRange range;
    Nanoseconds busy = 0;
    std::uint64_t count = 0;
    std::size_t sharers = 1;  // as row_busy() has it
  };
  void want(std::string row_key, Level level, TimeRange range, std::size_t sharers);
  // Makes what is wanted and is not there: rows before the overview, and sums last. Waits for the disk, and ends early when asked to stop; what was
  // made until then stays. Of a trace in memory, levels alone, on all cores: who has them paints at once.
  void make(const std::stop_token& stop);
  // Rows may be others than those that were summed.
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

  enum class Parts : std::uint8_t { kLevels, kAll } parts_ = Parts::kAll;
  std::map<Pane, Wanted> wanted_;
  std::vector<Level> foreseen_;
  std::map<std::string, WantedSum> wanted_sums_;
  ContentCache contents_;
  std::map<Pane, LevelRasterizer> pixels_;
  std::map<std::string, RowSum> sums_;
  bool has_forgotten_ = false;  // contents, which other pixels than its own may be of
};

// What is painted of some levels.
struct Painted {
  std::vector<const LevelContent*> contents;  // of each
  LevelRasterizer* rasterizer = nullptr;      // which has them
  enum class Detail : std::uint8_t { kExact, kOutline } detail = Detail::kExact;
};

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

  // Of a trace whose events are not in memory, rows are of what is known without decoding; a later one that is made of this has them all.
  explicit ViewContent(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked);
  // Of a later snapshot, or of the same. O(events that came) where it continues the one before, else as if there were none.
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
  // Whether every lane and name of the trace before has the same id in this one.
  [[nodiscard]] bool continues() const noexcept { return continues_; }

  // For what is painted in this viewport: shared, so that a window of the whole trace and the overview of it are computed once.
  [[nodiscard]] LevelRasterizer& rasterizer(const Viewport& viewport) { return viewport == Viewport{bounds_, viewport.width}.on_grid() ? of_all_ : of_window_; }
  // Whether events must be decoded for what is shown exactly.
  [[nodiscard]] bool is_on_demand() const noexcept { return on_demand_; }
  // What a thread paints that does not wait: the levels exactly, where few events are to be looked at for them, or they are in a picture that was put,
  // else in outline. O(what is new), but never O(events) where they are not in memory.
  [[nodiscard]] Painted painted(Pane pane, std::span<const Level* const> levels, const Viewport& viewport);
  // The picture that was put last, to be made on for what is wanted next there. Until it is put again, there is nothing to be painted in those panes.
  [[nodiscard]] Picture take_picture(std::initializer_list<Pane> panes = {Pane::kRows, Pane::kOverview});
  void put(Picture picture);
  // Whether a picture of another content is one of this: events must be decoded for both, and every lane has the same segments, with the same names.
  [[nodiscard]] bool has_pictures_of(const ViewContent& other) const;
  // Takes what pictures another such content has; but for sums, as its rows may be others.
  void continue_pictures(ViewContent& other);
  // Of the picture; none where it is not known of this range. Where a row is drawn, what is drawn adds up to it. O(width).
  [[nodiscard]] std::optional<Picture::RowSum> sum_of(const std::string& row_key, const Level& level, TimeRange range, std::size_t sharers);
  // A level that may be asked at once: null where that would take long.
  [[nodiscard]] const LevelContent* at_hand(const Level& level);
  // Makes ready, on all cores, what at_hand() is about to be asked for, unless that takes long.
  void make_at_once(std::span<const Level* const> levels);

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
  bool on_demand_ = false;
  ContentCache outlines_;
  std::map<Pane, LevelRasterizer> outline_pixels_;
  Picture picture_;
};

}  // namespace lanescope::timeline
