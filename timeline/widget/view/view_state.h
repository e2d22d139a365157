// The shared state of the parts of a timeline: the trace, and what of it is visible, selected and hovered. The parts read it, change it, and repaint on its
// signals. A signal is emitted only if something changed.
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
    kWish,     // by the user: a step of the history; the view no longer follows the end of a recording
    kHistory,  // a step back or forward
    kGrowth,   // of the trace
    kOpening,  // initial view after opening; a step of the history
  };
  enum class Change { kAnother, kGrown };  // kAnother: lanes and names have other ids; kGrown: the recording has only grown

  // Both must outlive the state.
  ViewState(Selection& selection, QObject* parent);
  ~ViewState() override;
  // Another thread makes something that will be shown.
  [[nodiscard]] bool isMakingReady() const {
    return making_ready_ || completion_.isActive() || refining_ || isCoarse() || !wanted_sums_.empty() || isMatching();
  }

  void setTrace(std::shared_ptr<const Trace> trace);
  void updateTrace(std::shared_ptr<const Trace> trace);
  // Prepares updateTrace() of this trace on another thread, then emits traceReady(). If several wait, only the last is prepared; none after another trace was
  // set.
  void makeReady(std::shared_ptr<const Trace> trace);
  [[nodiscard]] const std::shared_ptr<const Trace>& tracePointer() const { return content_->trace(); }
  [[nodiscard]] const Trace& trace() const { return *content_->trace(); }  // an empty one if there is none
  [[nodiscard]] const RowTree& tree() const { return content_->tree(); }
  [[nodiscard]] const RowLayout& layout() const { return layout_; }
  // Null if computing it would take long.
  [[nodiscard]] const LevelContent* content(const Level& level) { return content_->at_hand(level); }
  // Of what is kept to draw the trace, without the trace itself.
  [[nodiscard]] std::size_t memoryBytes() const noexcept { return content_->contents().memory_bytes(); }
  // Prepares on all cores what content() will be asked for, unless that takes long.
  void makeAtOnce(std::span<const Level* const> levels) { content_->make_at_once(levels); }
  // What to paint of these levels, in order. If that is their outline, another thread creates the exact picture, and pictureMade() follows. References to
  // contents that were not requested for a long time become invalid.
  [[nodiscard]] Painted painted(Pane pane, std::span<const Level* const> levels, const Viewport& viewport);
  // True if some of it is painted in outline.
  [[nodiscard]] bool isCoarse() const { return coarse_rows_ || coarse_overview_ || coarse_counters_; }
  // What to paint of a counter. If that is its outline, another thread creates the exact columns, and pictureMade() follows.
  [[nodiscard]] CounterColumns counterColumns(CounterId counter, const Viewport& viewport);
  // To be called when all counters in sight were painted: whether some are in outline.
  void setCountersDetail(CounterSeries::Detail detail);
  // The busy time of a row in a part of time, and the number of its events that start there. Nothing if it is not known yet: then pictureMade() follows.
  [[nodiscard]] std::optional<Picture::RowSum> rowSum(const Row& row, TimeRange range);

  [[nodiscard]] const Theme& theme() const { return theme_; }
  void setTheme(const Theme& theme);

  [[nodiscard]] TimeRange bounds() const { return content_->bounds(); }
  // The axis extends to the clock while a program is recorded, even if no events have arrived.
  void setClock(Clock clock);
  [[nodiscard]] Clock clock() const { return clock_; }
  // Open events, which are drawn up to the clock. isOpen() checks them against the trace that is shown now.
  void setOpenEvents(std::vector<EventRef> events);
  [[nodiscard]] bool isOpen(EventRef event) const;
  // As it is drawn: up to the clock if it is open.
  [[nodiscard]] Event drawnEvent(EventRef event) const;
  [[nodiscard]] std::vector<EventRef> openEventsOf(const Level& level) const;
  [[nodiscard]] TimeRange range() const { return range_; }
  // The only way to show another part of time; clamped to the trace.
  void navigate(TimeRange range, Reason reason = Reason::kWish);
  [[nodiscard]] const ViewHistory& history() const { return history_; }
  void goBack();
  void goForward();
  [[nodiscard]] FollowLive follow() const { return follow_; }
  void setFollow(FollowLive follow);

  [[nodiscard]] WheelUse wheelUse() const { return wheel_use_; }
  void setWheelUse(WheelUse use) { wheel_use_ = use; }

  [[nodiscard]] int scroll() const { return scroll_; }
  // The row at y of the window; null below the last one.
  [[nodiscard]] const PlacedRow* rowAt(int y) const { return layout_.row_at(layout_.unscrolled(y, scroll_)); }
  [[nodiscard]] int topOf(const PlacedRow& row) const { return RowLayout::top_in_window(row, scroll_); }
  void setScroll(int top);
  void setCanvasSize(int height, int device_width);
  void scrollTo(RowIndex row);

  void setRowState(const std::string& key, RowState state);
  void setRowStates(RowState state);  // of all rows
  // Expands the rows above the row of the event, and that row itself if its events are on several levels.
  void openRowsTo(EventRef event);
  [[nodiscard]] bool isRowExpanded(const Row& row) const { return is_expanded(row, arrangement_.expanded); }
  [[nodiscard]] const RowArrangement& arrangement() const { return arrangement_; }
  enum class Pinned { kNo, kYes };
  void setPinned(const std::string& key, Pinned pinned);
  void hide(const std::string& key);
  void showHidden();
  // Moves a row in front of a sibling, or behind it if it was in front of it. Rows that are not siblings stay unchanged.
  void move(const std::string& key, const std::string& sibling);
  // Sorts a row and its siblings by their measure in the selected, else in the visible range, the largest first. Does nothing if that is not known of all of
  // them yet.
  void order(const std::string& key, RowMeasure by);
  // While two traces are interleaved, a row and its partner are expanded and collapsed together.
  void setSides(TraceSides sides);
  [[nodiscard]] TraceSides sides() const { return sides_of(tree(), arrangement_); }
  void arrange(RowArrangement arrangement);  // not an edit
  void arrangeAsAtFirst();
  [[nodiscard]] std::size_t hiddenCount() const;  // of the rows of this trace, without rows below them
  void setFilter(std::string filter);
  [[nodiscard]] const std::string& filter() const { return filter_; }  // of rows
  // The key of the row that keys act on; "" if none was chosen.
  [[nodiscard]] const std::string& currentRow() const { return current_row_; }
  void setCurrentRow(std::string key);

  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] EventRef selected() const { return selection_.event(); }
  [[nodiscard]] const std::vector<EventRef>& correlated() const { return correlated_; }
  // The first `most` of them, by start, that are in the visible range, because a graph may launch ten thousand. O(log n + most).
  [[nodiscard]] std::vector<EventRef> correlatedInRange(std::size_t most) const;
  // The rows of all of them, each once.
  [[nodiscard]] const std::vector<RowIndex>& correlatedRows() const { return correlated_rows_; }
  void select(EventRef event) { selection_.select(event); }
  void reveal(EventRef event);  // scrolls and pans to it if it is out of sight
  [[nodiscard]] std::optional<TimeRange> selectedRange() const { return selection_.range(); }
  void selectRange(std::optional<TimeRange> range) { selection_.selectRange(range); }
  [[nodiscard]] EventRef hovered() const { return selection_.hovered(); }
  [[nodiscard]] std::optional<Nanoseconds> hoveredTime() const { return hovered_time_; }
  void hover(EventRef event, std::optional<Nanoseconds> time);

  // Of the trace, or of an earlier state of it; null: not known.
  void setIdleTime(std::shared_ptr<const IdleTime> idle);
  [[nodiscard]] const IdleTime* idleTime() const { return idle_time_.get(); }
  // As above; null: not known.
  void setCommunicationTime(std::shared_ptr<const CommunicationTime> time);
  [[nodiscard]] const CommunicationTime* communicationTime() const { return communication_time_.get(); }
  void setLoops(std::vector<TimelineView::Loop> loops);
  // Empty while the events are far behind the clock: what counts as a loop depends on the time that it takes up.
  [[nodiscard]] const std::vector<TimelineView::Loop>& loops() const;
  void showLoop();  // requires: there are some
  void openOnLoop();
  // The share of a part of time in which the row only waited for other ranks, from 0 to 1.
  [[nodiscard]] double waitingShare(const Row& row, TimeRange range) const;
  // The part of the kernel in which it waited for another rank; nothing if it did not wait or this is not known.
  [[nodiscard]] std::optional<TimeRange> waitOf(EventRef kernel) const;
  // The selected gap, or the gap with exactly the selected range.
  [[nodiscard]] std::optional<Gap> selectedGap() const;
  // Selects and reveals the nearest gap that is distinguishable at this zoom, starting at the selected gap or event or the edge of the visible range. Returns
  // false if there is none.
  bool selectGap(IdleTime::Direction direction);

  // Shown above all rows, even if it was hidden before; null: none.
  void setAnswer(std::shared_ptr<const AnswerRow> answer);
  [[nodiscard]] const std::shared_ptr<const AnswerRow>& answer() const { return answer_; }

  // Events that are shown as a chain of arrows, each from its successor; empty if there is none. It stays while the trace grows.
  [[nodiscard]] const std::vector<PathPlace>& path() const { return path_; }
  void setPath(std::vector<PathPlace> path);

  // While a large trace is searched for another text, these are the matches of the previous text.
  [[nodiscard]] EventMatches& matches() { return matches_; }
  [[nodiscard]] const std::string& highlighted() const { return highlighted_; }
  [[nodiscard]] bool isMatching() const { return matches_.text() != highlighted_; }
  void setHighlighted(std::string text);

  [[nodiscard]] const std::vector<TimelineView::Marker>& markers() const { return markers_; }
  void setMarkers(std::vector<TimelineView::Marker> markers);  // as returned by placed(). Not an edit, like the next function
  void setMarkerFiles(std::vector<TimelineView::MarkerFile> files);
  // At the times that result from the clocks of their files, by time; without those of unknown files.
  [[nodiscard]] std::vector<TimelineView::Marker> placed(std::vector<TimelineView::Marker> markers) const;
  void editMarkers(const QString& text, std::vector<TimelineView::Marker> markers);
  // The user's changes to rows and markers of this trace.
  [[nodiscard]] QUndoStack& edits() { return edits_; }

  // The height of rows as a multiple of the height for the font: kLowestRows to kHighestRows.
  static constexpr double kLowestRows = 0.75, kHighestRows = 5;
  [[nodiscard]] double rowScale() const { return row_scale_; }
  void setRowScale(double scale);

 signals:
  void traceReady(std::shared_ptr<const lanescope::Trace> trace);
  void traceChanged(lanescope::timeline::ViewState::Change change);
  void pictureMade();
  void detailChanged();  // value of isCoarse()
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
  void openEventsChanged();
  void idleTimeChanged();
  void communicationTimeChanged();
  void loopChanged();

 private:
  using SteadyClock = std::chrono::steady_clock;

  // Returns the previous content.
  std::unique_ptr<ViewContent> adopt(std::unique_ptr<ViewContent> content);
  void startMakingReady();
  void takeReady(std::unique_ptr<ViewContent> content);
  void correlate();  // with the selected event
  void match();      // updates highlighted_, on another thread if that takes long
  void callOff();    // cancels what is being prepared, and what waits for it
  void refineSoon();
  void refine();  // creates the requested picture
  void giveUpRefining();
  void placeAnswer();  // among the rows
  void layOut();
  // What keeps its position when rows are laid out again.
  struct Anchor {
    std::string row;
    int below_pinned = 0;  // px from the end of the pinned rows to its top
  };
  // This row, or the row that the user works with, if it is in sight, else the first row in sight; nothing if that is the topmost of all.
  [[nodiscard]] std::optional<Anchor> anchor(std::optional<RowIndex> preferred = std::nullopt) const;
  void returnTo(const std::optional<Anchor>& anchor);
  void editRows(const QString& text, RowArrangement arrangement);
  void closeWhatFilterOpened();
  [[nodiscard]] Sight sight() const;

  std::unique_ptr<ViewContent> content_;  // never null
  RowLayout layout_;
  std::unique_ptr<ViewContent> ready_;    // created on the other thread
  std::unique_ptr<ViewContent> retired_;  // to be freed there, too
  std::shared_ptr<const Trace> waiting_;  // to be prepared next
  bool making_ready_ = false;
  std::uint64_t times_called_off_ = 0;
  std::uint64_t times_adopted_ = 0;          // number of adopted contents
  std::uint64_t times_changed_ = 0;          // so that pictures of an earlier content are not used for this one
  SteadyClock::time_point next_projection_;  // of NVTX ranges on GPUs, while a recording grows
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
  std::map<Pane, WantedPane> wanted_;  // for the exact picture
  std::map<Pane, WantedPane> making_;  // for the picture that is being created
  std::map<std::string, WantedSum> wanted_sums_;
  std::map<std::string, WantedSum> making_sums_;
  std::map<CounterId, Viewport> wanted_counters_;
  std::map<CounterId, Viewport> making_counters_;
  bool coarse_rows_ = false;
  bool coarse_overview_ = false;
  bool coarse_counters_ = false;
  bool refining_ = false;
  bool refining_soon_ = false;
  std::stop_source stop_refining_;
  Theme theme_;  // with rows of the chosen height
  RowMetrics usual_rows_;
  double row_scale_ = 1;
  QUndoStack edits_;
  RowArrangement arrangement_;
  std::string filter_;
  struct {
    int scroll = 0;
    std::string current_row;
    std::vector<std::string> opened;  // rows that are expanded only for the filter
  } before_filter_;                   // when the first letter of the filter was typed
  std::string current_row_;
  TimeRange range_{0, 1'000'000};
  ViewHistory history_;
  FollowLive follow_ = FollowLive::kNo;
  Clock clock_;
  std::vector<EventRef> open_events_;  // by lane
  WheelUse wheel_use_ = WheelUse::kZoom;
  int scroll_ = 0;
  int canvas_height_ = 0;
  int device_width_ = 0;  // of the canvas, in device pixels
  Selection& selection_;
  std::vector<EventRef> correlated_;  // with the selected event
  std::vector<RowIndex> correlated_rows_;
  std::optional<Nanoseconds> hovered_time_;
  std::vector<PathPlace> path_;
  std::vector<TimelineView::Marker> markers_;
  std::vector<TimelineView::MarkerFile> marker_files_;
  std::string highlighted_;
  EventMatches matches_;
  std::stop_source stop_matching_;
  std::shared_ptr<const IdleTime> idle_time_;
  std::shared_ptr<const CommunicationTime> communication_time_;
  std::vector<TimelineView::Loop> loops_;
  enum class Place { kAsOpened, kMoved } place_ = Place::kMoved;  // whether the user moved the view since a trace was opened
  std::shared_ptr<const AnswerRow> answer_;
  QThreadPool matching_thread_;
  QThreadPool other_thread_;  // last: what runs there is waited for before anything else ends
};

// The GPU whose idle time the row shows behind its work: for "CUDA HW", or for a collapsed GPU; nothing for other rows.
[[nodiscard]] std::optional<GpuId> gpu_of(const ViewState& state, const PlacedRow& placed);

}  // namespace lanescope::timeline
