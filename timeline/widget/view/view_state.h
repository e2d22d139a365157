// What the parts of a timeline share: the trace, what of it is visible, selected and hovered. The parts read it, change it, and repaint on
// its signals. A signal is emitted only when something changed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <QFont>
#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <QUndoStack>

#include "painting/theme.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/navigation.h"
#include "timeline/core/rows/answer_row.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/view/view_content.h"
#include "timeline/core/view/view_history.h"
#include "timeline/widget/selection.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::timeline {

class ViewState : public QObject {
  Q_OBJECT

 public:
  // Why the view shows another part of time.
  enum class Reason {
    kWish,     // of the user: a step of the history; the end of a recording is followed no more
    kHistory,  // a step back or forward
    kGrowth,   // of the trace
    kOpening,  // it was opened; a step of the history
  };
  enum class Change { kAnother, kGrown };  // whether lanes and names have other ids, or the recording has just grown

  // Both must outlive the state.
  ViewState(Selection& selection, QObject* parent);
  ~ViewState() override;
  // Another thread makes something that will be shown.
  [[nodiscard]] bool is_making_ready() const { return making_ready_ || completion_.isActive() || refining_ || is_coarse() || !wanted_sums_.empty(); }

  void set_trace(std::shared_ptr<const Trace> trace);
  void update_trace(std::shared_ptr<const Trace> trace);
  // Makes on another thread what update_trace() needs of this trace, then emits traceReady(). Of several that wait, only the last; none
  // once another trace is set.
  void make_ready(std::shared_ptr<const Trace> trace);
  [[nodiscard]] const std::shared_ptr<const Trace>& trace_pointer() const { return content_->trace(); }
  [[nodiscard]] const Trace& trace() const { return *content_->trace(); }  // an empty one when there is none
  [[nodiscard]] const RowTree& tree() const { return content_->tree(); }
  [[nodiscard]] const RowLayout& layout() const { return layout_; }
  // Null where to know it would take long.
  [[nodiscard]] const LevelContent* content(const Level& level) { return content_->at_hand(level); }
  // Of what is kept to draw the trace, beyond the trace's own.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return content_->contents().memory_bytes(); }
  // Makes ready, on all cores, what content() is about to be asked for, unless that takes long.
  void make_at_once(std::span<const Level* const> levels) { content_->make_at_once(levels); }
  // What is to be painted of these levels, in order. Where that is their outline, another thread makes the exact picture, and pictureMade()
  // follows. References to contents that were not asked for in a long while end.
  [[nodiscard]] Painted painted(Pane pane, std::span<const Level* const> levels, const Viewport& viewport);
  // Whether some of it is painted in outline.
  [[nodiscard]] bool is_coarse() const { return coarse_rows_ || coarse_overview_; }
  // How long a row is busy in a part of time, and how many of its events begin there. None where that is not known yet: then pictureMade()
  // follows.
  [[nodiscard]] std::optional<Picture::RowSum> row_sum(const Row& row, TimeRange range);

  [[nodiscard]] const Theme& theme() const { return theme_; }
  void set_theme(const Theme& theme);

  [[nodiscard]] TimeRange bounds() const { return content_->bounds(); }
  // The axis goes to the clock while a program is recorded, whether anything has come or not.
  void set_clock(Clock clock);
  [[nodiscard]] Clock clock() const { return clock_; }
  [[nodiscard]] TimeRange range() const { return range_; }
  // The only way to show another part of time; clamped to what the trace has.
  void navigate(TimeRange range, Reason reason = Reason::kWish);
  [[nodiscard]] const ViewHistory& history() const { return history_; }
  void go_back();
  void go_forward();
  [[nodiscard]] FollowLive follow() const { return follow_; }
  void set_follow(FollowLive follow);

  [[nodiscard]] WheelUse wheel_use() const { return wheel_use_; }
  void set_wheel_use(WheelUse use) { wheel_use_ = use; }

  [[nodiscard]] int scroll() const { return scroll_; }
  // The row at y of the window; null below the last one.
  [[nodiscard]] const PlacedRow* row_at(int y) const { return layout_.row_at(layout_.unscrolled(y, scroll_)); }
  [[nodiscard]] int top_of(const PlacedRow& row) const { return RowLayout::top_in_window(row, scroll_); }
  void set_scroll(int top);
  void set_canvas_size(int height, int device_width);
  void scroll_to(RowIndex row);

  void set_row_state(const std::string& key, RowState state);
  void set_row_states(RowState state);  // of all rows
  // Opens the rows above that of the event, and that itself where what it shows of events lies on several levels.
  void open_rows_to(EventRef event);
  [[nodiscard]] bool is_row_expanded(const Row& row) const { return is_expanded(row, arrangement_.expanded); }
  [[nodiscard]] const RowArrangement& arrangement() const { return arrangement_; }
  enum class Pinned { kNo, kYes };
  void set_pinned(const std::string& key, Pinned pinned);
  void hide(const std::string& key);
  void show_hidden();
  // Puts a row in front of a sibling, or behind it where it was in front. Rows that are not siblings stay as they are.
  void move(const std::string& key, const std::string& sibling);
  // Puts a row and its siblings in order, the largest first, by what is selected, else by what is visible. Where that is not known of all of them
  // yet, nothing is done.
  void order(const std::string& key, RowMeasure by);
  // While two traces stand interleaved, a row and its partner are opened and closed together.
  void set_sides(TraceSides sides);
  [[nodiscard]] TraceSides sides() const { return sides_of(tree(), arrangement_); }
  void arrange(RowArrangement arrangement);  // no edit
  void arrange_as_at_first();
  [[nodiscard]] std::size_t hidden_count() const;  // of the rows of this trace, without what is below them
  void set_filter(std::string filter);
  [[nodiscard]] const std::string& filter() const { return filter_; }  // of rows
  // The key of the row that keys are about; "" where none was chosen.
  [[nodiscard]] const std::string& current_row() const { return current_row_; }
  void set_current_row(std::string key);

  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] EventRef selected() const { return selection_.event(); }
  [[nodiscard]] const std::vector<EventRef>& correlated() const { return correlated_; }
  // Of those, by start, the first that are in the visible range, so many at most: a graph launches ten thousand. O(log n + most).
  [[nodiscard]] std::vector<EventRef> correlated_in_range(std::size_t most) const;
  // The rows of all of them, each once.
  [[nodiscard]] const std::vector<RowIndex>& correlated_rows() const { return correlated_rows_; }
  void select(EventRef event) { selection_.select(event); }
  void reveal(EventRef event);  // scrolls and pans to it where it is out of sight, and stays there
  [[nodiscard]] std::optional<TimeRange> selected_range() const { return selection_.range(); }
  void select_range(std::optional<TimeRange> range) { selection_.selectRange(range); }
  [[nodiscard]] EventRef hovered() const { return selection_.hovered(); }
  [[nodiscard]] std::optional<Nanoseconds> hovered_time() const { return hovered_time_; }
  void hover(EventRef event, std::optional<Nanoseconds> time);

  // Of the trace, or of an earlier state of it; null: not known.
  void set_idle_time(std::shared_ptr<const IdleTime> idle);
  [[nodiscard]] const IdleTime* idle_time() const { return idle_time_.get(); }
  // The same; null: not known.
  void set_communication_time(std::shared_ptr<const CommunicationTime> time);
  [[nodiscard]] const CommunicationTime* communication_time() const { return communication_time_.get(); }
  void set_loops(std::vector<TimelineView::Loop> loops);
  // None while what is recorded is far behind the clock: what is a loop goes by the time that it is most of.
  [[nodiscard]] const std::vector<TimelineView::Loop>& loops() const;
  void show_loop();  // requires: some
  void open_on_loop();
  // How much of a part of time the row did nothing but wait for other ranks, from 0 to 1.
  [[nodiscard]] double waiting_share(const Row& row, TimeRange range) const;
  // The part of the kernel in which it waited for another rank; none where it did not, or nothing is known.
  [[nodiscard]] std::optional<TimeRange> wait_of(EventRef kernel) const;
  // The gap that is selected, or that the selected range is exactly of.
  [[nodiscard]] std::optional<Gap> selected_gap() const;
  // Selects the nearest gap that this zoom shows apart, from the selected gap or event or the edge of what is visible, and brings it in sight.
  void select_gap(IdleTime::Direction direction);

  // On top of all rows, also where it was hidden before; null: none.
  void set_answer(std::shared_ptr<const AnswerRow> answer);
  [[nodiscard]] const std::shared_ptr<const AnswerRow>& answer() const { return answer_; }

  // Events that are shown as a chain of arrows, each from the one behind it; none where there is none.
  [[nodiscard]] const std::vector<EventRef>& path() const { return path_; }
  void set_path(std::vector<EventRef> path);

  [[nodiscard]] EventMatches& matches() { return matches_; }
  void set_highlighted(std::string text);

  [[nodiscard]] const std::vector<TimelineView::Marker>& markers() const { return markers_; }
  void set_markers(std::vector<TimelineView::Marker> markers);  // as placed() has them. No edit, as the next
  void set_marker_files(std::vector<TimelineView::MarkerFile> files);
  // At the times that their files' clocks give them, by time; without those whose files are not there.
  [[nodiscard]] std::vector<TimelineView::Marker> placed(std::vector<TimelineView::Marker> markers) const;
  void edit_markers(const QString& text, std::vector<TimelineView::Marker> markers);
  // What a person did to rows and markers of this trace.
  [[nodiscard]] QUndoStack& edits() { return edits_; }

  // How high rows are, as a multiple of what the font asks for: kLowestRows to kHighestRows.
  static constexpr double kLowestRows = 0.75, kHighestRows = 5;
  [[nodiscard]] double row_scale() const { return row_scale_; }
  void set_row_scale(double scale);

 signals:
  void traceReady(std::shared_ptr<const lanescope::Trace> trace);
  void traceChanged(lanescope::timeline::ViewState::Change change);
  void pictureMade();
  void detailChanged();  // is_coarse()
  void layoutChanged();
  void currentRowChanged();
  void themeChanged();
  void rangeChanged();
  void historyChanged();
  void followChanged();
  void scrollChanged();
  void selectionChanged();
  void selectedRangeChanged();
  void selectedGapChanged();
  void hoverChanged();
  void hoveredTimeChanged();
  void markersChanged();
  void markersEdited();
  void rowScaleChanged();
  void highlightChanged();
  void idleTimeChanged();
  void communicationTimeChanged();
  void loopChanged();

 private:
  using SteadyClock = std::chrono::steady_clock;

  // Returns what was there before.
  std::unique_ptr<ViewContent> adopt(std::unique_ptr<ViewContent> content);
  void start_making_ready();
  void take_ready(std::unique_ptr<ViewContent> content);
  void correlate();  // with the selected event
  void call_off();   // what is being made ready, and what waits for it
  void refine_soon();
  void refine();  // makes the picture that is wanted
  void give_up_refining();
  void place_answer();  // among the rows
  void lay_out();
  // What stays where it is while rows are laid out anew.
  struct Anchor {
    std::string row;
    int below_pinned = 0;  // px from the end of the pinned rows to its top
  };
  // This row, or the one that the user is about, where it is in sight, else the first that is; none where that is the topmost of all.
  [[nodiscard]] std::optional<Anchor> anchor(std::optional<RowIndex> preferred = std::nullopt) const;
  void return_to(const std::optional<Anchor>& anchor);
  void edit_rows(const QString& text, RowArrangement arrangement);
  [[nodiscard]] Sight sight() const;

  std::unique_ptr<ViewContent> content_;  // never null
  RowLayout layout_;
  std::unique_ptr<ViewContent> ready_;    // made on the other thread
  std::unique_ptr<ViewContent> retired_;  // to be freed there, too
  std::shared_ptr<const Trace> waiting_;  // to be made ready next
  bool making_ready_ = false;
  std::uint64_t times_called_off_ = 0;
  std::uint64_t times_adopted_ = 0;          // a content
  std::uint64_t times_changed_ = 0;          // so that pictures of the one before are none of this
  SteadyClock::time_point next_projection_;  // of ranges of NVTX on GPUs, while a recording grows
  QTimer completion_;                        // of what was left out to show a large trace at once
  struct WantedPane {
    std::vector<Level> levels;
    Viewport viewport;
    bool operator==(const WantedPane&) const = default;
  };
  struct WantedSum {
    Level level;
    TimeRange range;
    std::size_t sharers = 1;
    bool operator==(const WantedSum&) const = default;
  };
  std::map<Pane, WantedPane> wanted_;  // of the exact picture
  std::map<Pane, WantedPane> making_;  // of the one that is being made
  std::map<std::string, WantedSum> wanted_sums_;
  std::map<std::string, WantedSum> making_sums_;
  bool coarse_rows_ = false;
  bool coarse_overview_ = false;
  bool refining_ = false;
  bool refining_soon_ = false;
  std::stop_source stop_refining_;
  Theme theme_;  // with rows of the height that is wished for
  RowMetrics usual_rows_;
  double row_scale_ = 1;
  QUndoStack edits_;
  RowArrangement arrangement_;
  std::string filter_;
  struct {
    int scroll = 0;
    std::string current_row;
  } before_filter_;  // when the first letter of it was typed
  std::string current_row_;
  TimeRange range_{0, 1'000'000};
  ViewHistory history_;
  FollowLive follow_ = FollowLive::kNo;
  Clock clock_;
  WheelUse wheel_use_ = WheelUse::kZoom;
  int scroll_ = 0;
  int canvas_height_ = 0;
  int device_width_ = 0;  // of the canvas, in device pixels
  Selection& selection_;
  std::vector<EventRef> correlated_;  // with the selected event
  std::vector<RowIndex> correlated_rows_;
  std::optional<Nanoseconds> hovered_time_;
  std::vector<EventRef> path_;
  std::vector<TimelineView::Marker> markers_;
  std::vector<TimelineView::MarkerFile> marker_files_;
  EventMatches matches_;
  std::shared_ptr<const IdleTime> idle_time_;
  std::shared_ptr<const CommunicationTime> communication_time_;
  std::vector<TimelineView::Loop> loops_;
  enum class Place { kAsOpened, kMoved } place_ = Place::kMoved;  // whether somebody moved the view since a trace was opened
  std::shared_ptr<const AnswerRow> answer_;
  QThreadPool other_thread_;  // last: what runs there is waited for before anything else ends
};

// The GPU whose idle time the row shows behind its work: that of "CUDA HW", or of a GPU that is closed; none for other rows.
[[nodiscard]] std::optional<GpuId> gpu_of(const ViewState& state, const PlacedRow& placed);

}  // namespace lanescope::timeline
