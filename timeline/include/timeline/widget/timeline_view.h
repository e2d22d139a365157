// The timeline as one widget: minimap, ruler, row headers and the canvas with the rows.
//
// It shows a Trace and nothing else: it opens no files and knows no recordings. setTrace() sets a trace, updateTrace() a later snapshot of the same recording.
// All times are ns since the trace's epoch.
//
// Gestures (helpText() lists them all): the wheel zooms at the cursor (or scrolls, see WheelUse), two fingers on a trackpad move the view, dragging selects a
// range, a click selects an event, a double-click zooms to it. Everything else has a key: timeline_command.h.
//
// Threads: the GUI thread only. Signals are emitted once for each change, whoever caused it, and never for a call that changes nothing.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QImage>
#include <QKeyCombination>
#include <QString>
#include <QUndoStack>
#include <QWidget>

#include "model/trace/trace.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/navigation.h"
#include "timeline/core/pixels/path_arrows.h"
#include "timeline/core/pixels/svg_picture.h"
#include "timeline/core/rows/answer_row.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::timeline {

class Selection;
struct TimelineCommand;

enum class FollowLive { kNo, kYes };
enum class WheelUse { kZoom, kScroll };  // effect of a mouse wheel on the rows without modifiers; with Ctrl it zooms

// What to do with a requested loop.
enum class LoopUse { kShown, kSelected };

class TimelineView : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);  // with a selection of its own
  // With a selection that other views share; it must outlive the timeline.
  explicit TimelineView(Selection& selection, QWidget* parent = nullptr);
  ~TimelineView() override;

  // Sets another trace (null: none): everything is visible, nothing is selected, the history is empty.
  void setTrace(std::shared_ptr<const Trace> trace);
  // Sets a later snapshot of the same recording: visible range, selection, expanded rows and scroll position stay. With FollowLive::kYes the visible range
  // keeps its length and moves to keep the newest event in sight; if everything was visible, everything stays visible.
  void updateTrace(std::shared_ptr<const Trace> trace);
  // Prepares updateTrace() of this snapshot on another thread, then emits traceReady(); updateTrace() then takes only as long as painting. If snapshots arrive
  // faster than that, all but the last are skipped. If another trace is set meanwhile, traceReady() is not emitted.
  void makeReady(std::shared_ptr<const Trace> trace);
  // True while that is in progress, or while parts are computed that a trace lacks at first: NVTX ranges on GPUs, and newly added content of the overview,
  // follow a moment later.
  [[nodiscard]] bool isMakingReady() const;
  // True if something is painted in outline while another thread reads its events.
  [[nodiscard]] bool showsOutline() const;
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const;
  // Of what is kept to draw the trace, without the trace itself: grows with the rows that were shown.
  [[nodiscard]] std::size_t memoryBytes() const;
  void setFollowLive(FollowLive follow);  // a gesture of the user that moves the view sets it to kNo
  [[nodiscard]] FollowLive followLive() const;
  // The present time in the recording that is drawn, on the trace's axis, which extends to it; nothing when the recording has ended.
  void setClock(std::optional<Nanoseconds> now);
  // Open events of that trace, each the last of its lane: they are drawn up to the clock. None is drawn after the recording has ended.
  void setOpenEvents(std::vector<EventRef> events);

  void setWheelUse(WheelUse use);  // kZoom by default
  // The height of rows as a multiple of the height for the font; bounded. Ctrl+wheel over the row names changes it, too.
  [[nodiscard]] double rowScale() const;
  void setRowScale(double scale);

  [[nodiscard]] TimeRange visibleRange() const;
  void setVisibleRange(TimeRange range);  // clamped to the trace; adds a step to the history
  void zoomToFit();
  void zoomToSelection();            // the range, gap or event that was selected last; rows are expanded to show the event
  void openRowsTo(EventRef event);   // and no other rows; does nothing for an event without a row
  void zoomToEvent(EventRef event);  // selects it and shows it with some room on both sides
  void zoomBy(double factor);        // > 1 zooms in, around the cursor if it is over the rows, else around the centre
  void panBy(double share);          // share of the visible range, to the right
  [[nodiscard]] bool canGoBack() const;
  [[nodiscard]] bool canGoForward() const;
  void goBack();
  void goForward();

  [[nodiscard]] Selection& selection();
  [[nodiscard]] EventRef selectedEvent() const;  // not valid() if none is selected
  void selectEvent(EventRef event);              // {} clears; scrolls to it if it is out of sight
  void revealEvent(EventRef event);              // scrolls to it if it is out of sight, at the present zoom
  void selectNeighbour(Neighbour which);
  void selectInRow();  // the event of the current row nearest to the centre
  // Draws arrows along these places, each from its successor: what an event waited for. Empty: arrows of launches are drawn.
  void setPath(std::vector<PathPlace> path);
  void askWhatItWaitedFor();  // emits waitedForRequested() for the selected event
  void selectCorrelated();    // the call that launched the selected work, or the first work that the selected call launched
  void clearSelection();      // event, range and row
  [[nodiscard]] std::optional<TimeRange> selectedRange() const;
  void setSelectedRange(std::optional<TimeRange> range);
  [[nodiscard]] EventRef hoveredEvent() const;
  void setHoveredEvent(EventRef event);  // outlines it if it is in sight, until the cursor hovers over another event
  // Events that the selected one launched, or that launched it.
  [[nodiscard]] const std::vector<EventRef>& correlatedEvents() const;

  // Shades the idle time of GPUs in the colours of its causes, and lets gaps be hovered and selected: a selected gap is a selected range. `idle` belongs to the
  // trace or to an earlier state of it; setTrace() removes it.
  void setIdleTime(std::shared_ptr<const IdleTime> idle);
  // Draws and counts the time in which kernels of collectives wait for another rank separately from their transfer. `time` belongs to the trace or to an
  // earlier state of it; setTrace() removes it.
  void setCommunicationTime(std::shared_ptr<const CommunicationTime> time);
  // The time of the loop of the recorded program, without warm-up iterations, and its name: "step *, 19 iterations".
  struct Loop {
    TimeRange range;
    QString title;
    bool operator==(const Loop&) const = default;
  };
  // Marks the loops in the overview; one for each run if runs are compared, A's first. Empty: not known, as after setTrace().
  void setLoops(std::vector<Loop> loops);
  [[nodiscard]] const std::vector<Loop>& loops() const;
  void showLoop();    // with some room on both sides; if it is shown already, the loop of the next run; emits loopRequested() if none is known (yet)
  void selectLoop();  // as a range, so that panels describe it; also emits loopRequested()
  // Sets the initial view: the loop if there is one that takes less than half of the possible range, else everything. Does nothing if the user has moved the
  // view or selected something outside of the loop, or if a part of a recording is shown.
  void openOnLoop();
  // Shows time ranges that answer a query as a row above all others, replacing previous ones; null: none, as after setTrace(). A click selects one of them as a
  // range.
  void setAnswer(std::shared_ptr<const AnswerRow> answer);
  [[nodiscard]] const std::shared_ptr<const AnswerRow>& answer() const;
  [[nodiscard]] std::optional<Gap> selectedGap() const;
  // Selects the next or previous gap that is wide enough to be seen at this zoom, from the selection, else from the edge of the visible range.
  void selectGap(IdleTime::Direction direction);

  [[nodiscard]] const RowTree& rows() const;
  [[nodiscard]] bool isExpanded(const QString& row_key) const;
  void expandRow(const QString& row_key);
  void collapseRow(const QString& row_key);
  void expandAll();
  void collapseAll();
  // Shows rows whose title contains the text, with their parents, which are expanded meanwhile, and children; "" shows all.
  void setRowFilter(const QString& text);
  [[nodiscard]] bool hasRowFilter() const;
  void scrollToRow(const QString& row_key);
  [[nodiscard]] int headerWidth() const;  // of the names of rows, logical pixels; at most half of the view's width
  void setHeaderWidth(int width);
  // Pinned rows are shown above all others, in the order in which they were pinned.
  [[nodiscard]] bool isPinned(const QString& row_key) const;
  void pin(const QString& row_key);
  void unpin(const QString& row_key);
  // Undoes and redoes the user's changes: rows that were hidden, shown, pinned or moved, and markers that were set or removed. setTrace() clears it.
  [[nodiscard]] QUndoStack& edits();
  void hideRow(const QString& row_key);  // with all rows below it
  [[nodiscard]] bool hasHiddenRows() const;
  void showHiddenRows();
  // Moves a row in front of a sibling, or behind it if it was in front of it.
  void moveRow(const QString& row_key, const QString& sibling_key);
  // The whole arrangement, to be stored and restored. Entries of rows that do not exist (yet) are kept for later.
  [[nodiscard]] const RowArrangement& rowArrangement() const;
  void setRowArrangement(RowArrangement arrangement);  // is not an edit
  void arrangeRowsAsAtFirst();
  [[nodiscard]] TraceSides traceSides() const;  // the effective value, whether chosen or not
  void setTraceSides(TraceSides sides);         // of two traces; does nothing for one

  // The row that keys act on: the one whose name was clicked or that was reached by keys; else the one under the cursor, else that of the selected event; ""
  // for none.
  [[nodiscard]] QString currentRow() const;
  void setCurrentRow(const QString& row_key);  // "" for none
  enum class RowDirection { kUp, kDown };
  void stepRow(RowDirection direction);  // makes the next shown row the current one
  // These act on the current row; they do nothing if there is none.
  void pinRow();  // or unpins it
  void hideCurrentRow();
  void toggleRow();                       // expands or collapses it
  void shiftRow(RowDirection direction);  // to the other side of its next sibling
  void orderRows(RowMeasure by);          // sorts it and its siblings, the largest first; the topmost rows if there is no current row
  void askForMenu();                      // of the selected event, else of the row
  void scrollRows(int pages);

  // The events of a row for an events view: its lanes, each with the events that it selects of them.
  [[nodiscard]] std::vector<LaneSource> rowEvents(const QString& row_key) const;
  [[nodiscard]] QString rowTitle(const QString& row_key) const;
  [[nodiscard]] RowData shownRows() const;  // without hidden and filtered rows, but with the content of collapsed ones

  // A named time. If it belongs to a file that stores it, it also has a time of that file's clock, which it keeps however the clock is set.
  struct Marker {
    Nanoseconds time = 0;  // on the axis
    QString text;
    QString file = {};         // the path; empty: it belongs to no file
    Nanoseconds own_time = 0;  // if it belongs to a file
    bool operator==(const Marker&) const = default;
  };
  struct MarkerFile {
    QString path;
    ClockLine clock;  // from times of the file to times of the axis
  };
  // The files that store markers. New markers, and those that belonged to no file so far, belong to the first one. Markers are moved according to the files'
  // clocks, and those of other files are removed. Empty: markers belong to no file. Is not an edit.
  void setMarkerFiles(std::vector<MarkerFile> files);
  [[nodiscard]] const std::vector<Marker>& markers() const;       // by time
  void setMarkers(std::vector<Marker> markers);                   // of known files, at their own times. Is not an edit
  void addMarker(Nanoseconds time, const QString& text);          // if there is a marker at the same place, its text is replaced
  void addMarkers(const std::vector<Marker>& markers);            // the same for several, in one step of edits()
  void markSelection();                                           // at the ends of the range or gap, or the start of the event, that was selected last
  void setMarkerText(const Marker& marker, const QString& text);  // does nothing if the marker does not exist, like the next function
  void removeMarker(const Marker& marker);
  void clearMarkers();
  enum class MarkerDirection { kNext, kPrevious };
  void goToMarker(MarkerDirection direction);  // starting at the last one that this went to if it is still in sight, else at the centre
  void askForMarker();                         // a named one, at the start of what was selected last, else at the cursor or the centre
  void askForMarkerAt(Nanoseconds time);       // the same, at this time
  // Shows the surroundings of a time at the present zoom.
  void goToTime(Nanoseconds time);
  void askForTime();  // then as goToTime(); a range ("1ms:2.5ms") becomes the visible one
  // Moves the start or end of the selected range to the edge of an event that is nearest to the cursor, else to that of the selected event. Two calls measure
  // the time between two edges.
  enum class RangeEnd { kBegin, kEnd };
  void measureFrom(RangeEnd end);

  // Highlights on every row the events whose names contain the text, ignoring case; "" ends it.
  void setHighlightedText(const QString& text);
  [[nodiscard]] QString highlightedText() const;
  [[nodiscard]] std::uint64_t highlightedCount() const;  // O(events) the first time
  // Selects and shows the next or previous match, by start, from the selected event or the start of the visible range.
  void selectNextHighlighted();
  void selectPreviousHighlighted();

  // Gestures and their effects, for a list of keys and gestures.
  [[nodiscard]] std::vector<std::pair<QString, QString>> helpText() const;

  // Replaces the default keys of a command, by its id.
  void setKeys(const QString& command, std::vector<QKeyCombination> keys);
  // Executes the command of the key; returns false if there is none. For a widget that has the focus but does not use the key.
  bool actOn(const QKeyEvent& event);
  [[nodiscard]] const std::vector<QKeyCombination>& keysOf(const TimelineCommand& command) const;

  // What is seen, except what follows the mouse, drawn at `scale` device pixels per logical pixel. Null if there is not enough memory. O(pixels).
  [[nodiscard]] QImage picture(double scale);
  // The rows in that picture, for an SVG picture.
  [[nodiscard]] std::vector<SvgRow> rowsInSight() const;

  [[nodiscard]] QSize sizeHint() const override;

 signals:
  void traceReady(std::shared_ptr<const lanescope::Trace> trace);
  void visibleRangeChanged(lanescope::TimeRange range);
  void historyChanged();
  void selectedEventChanged(lanescope::EventRef event);  // not valid() when the selection was cleared
  void selectedRangeChanged(std::optional<lanescope::TimeRange> range);
  void hoveredEventChanged(lanescope::EventRef event);
  void hoveredTimeChanged(std::optional<lanescope::Nanoseconds> time);
  void followLiveChanged(lanescope::timeline::FollowLive follow);
  void eventActivated(lanescope::EventRef event);  // by a double-click
  void rowContextMenuRequested(const QString& row_key, const QPoint& global_position);
  void eventContextMenuRequested(lanescope::EventRef event, const QString& row_key, const QPoint& global_position);
  // By a right click on a gap of a GPU, which selects it; on the ruler or the overview.
  void gapContextMenuRequested(const lanescope::timeline::Gap& gap, const QString& row_key, const QPoint& global_position);
  void timeContextMenuRequested(lanescope::Nanoseconds time, const QPoint& global_position);
  void markersChanged();
  void markersEdited();  // by the user: they should be stored
  void waitedForRequested();
  // For a trace whose events are read on demand: searching all of them takes long.
  void highlightedRequested(lanescope::timeline::EventMatches::Direction direction);
  void gapsRequested();
  void gapsEnded(lanescope::timeline::IdleTime::Direction direction);  // if selectGap() finds none
  void loopRequested(lanescope::timeline::LoopUse use);                // to be shown or selected when it is known
  void rowScaleChanged(double scale);
  void headerWidthChanged(int width);  // by the user, who dragged its border
  void rowArrangementChanged();        // rows were expanded, pinned, hidden or moved, or the rows have changed
  void currentRowChanged();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void selectHighlighted(EventMatches::Direction direction);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lanescope::timeline
