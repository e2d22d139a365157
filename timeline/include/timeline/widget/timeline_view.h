// The timeline as one widget: minimap, ruler, row headers and the canvas with the rows.
//
// It shows a Trace and nothing else: it opens no files and knows no recordings. Give it a trace with setTrace(), later snapshots of the
// same recording with updateTrace(). All times are ns since the trace's epoch.
//
// Gestures (helpText() lists them all): the wheel zooms at the cursor (or scrolls, see WheelUse), two fingers on a trackpad move what is seen, drag selects a
// range, click selects an event, double-click zooms to it. Everything else has a key: timeline_command.h.
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
#include "timeline/core/pixels/svg_picture.h"
#include "timeline/core/rows/answer_row.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::timeline {

class Selection;
struct TimelineCommand;

enum class FollowLive { kNo, kYes };
enum class WheelUse { kZoom, kScroll };  // what a mouse wheel does to the rows without a key; with Ctrl it zooms

// What becomes of a loop that somebody asks for.
enum class LoopUse { kShown, kSelected };

class TimelineView : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);  // with a selection of its own
  // With one that other views share; it must outlive the timeline.
  explicit TimelineView(Selection& selection, QWidget* parent = nullptr);
  ~TimelineView() override;

  // Another trace (null: none): everything is shown, nothing is selected, the history is empty.
  void setTrace(std::shared_ptr<const Trace> trace);
  // A later snapshot of the same recording: visible range, selection, expanded rows and scroll position stay. With FollowLive::kYes the
  // visible range keeps its length and moves so that the newest event stays in sight; where everything was visible, everything stays so.
  void updateTrace(std::shared_ptr<const Trace> trace);
  // Does on another thread what updateTrace() of this snapshot needs, then emits traceReady(); updateTrace() then takes as long as
  // painting. Of snapshots that come faster than that, all but the last are left out. Where another trace is set meanwhile, traceReady() does not come.
  void makeReady(std::shared_ptr<const Trace> trace);
  // Whether that goes on, or what a trace lacks at first: NVTX ranges on GPUs, and in the overview what came since, are there a moment later.
  [[nodiscard]] bool isMakingReady() const;
  // Whether something is painted in outline as long as another thread looks at its events.
  [[nodiscard]] bool showsOutline() const;
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const;
  // Of what is kept to draw the trace, beyond the trace's own: grows with the rows that were shown.
  [[nodiscard]] std::size_t memoryBytes() const;
  void setFollowLive(FollowLive follow);  // a gesture of the user that moves the view ends it
  [[nodiscard]] FollowLive followLive() const;
  // What time it is in the recording that is drawn, on the trace's axis, which goes that far; none once it has ended.
  void setClock(std::optional<Nanoseconds> now);

  void setWheelUse(WheelUse use);  // at first kZoom
  // How high rows are, as a multiple of what the font asks for; bounded. Ctrl+wheel over the row names changes it, too.
  [[nodiscard]] double rowScale() const;
  void setRowScale(double scale);

  [[nodiscard]] TimeRange visibleRange() const;
  void setVisibleRange(TimeRange range);  // clamped to what the trace has; a step of the history
  void zoomToFit();
  void zoomToSelection();            // the selected range, else the selected event, on rows that are opened for it
  void openRowsTo(EventRef event);   // and no others; nothing for an event of no row
  void zoomToEvent(EventRef event);  // selects it and shows it with some room on both sides
  void zoomBy(double factor);        // > 1 zooms in, about the cursor where it is over the rows, else about the centre
  void panBy(double share);          // of the visible range, to the right
  [[nodiscard]] bool canGoBack() const;
  [[nodiscard]] bool canGoForward() const;
  void goBack();
  void goForward();

  [[nodiscard]] Selection& selection();
  [[nodiscard]] EventRef selectedEvent() const;  // not valid() when none
  void selectEvent(EventRef event);              // {} clears; scrolls to it where it is out of sight
  void revealEvent(EventRef event);              // scrolls to it where it is out of sight, at the zoom that is
  void selectNeighbour(Neighbour which);
  void selectInRow();  // the event of the current row that is nearest to the centre
  // Arrows along these events, each from the one behind it: what an event waited for. None: those of launches are drawn.
  void setPath(std::vector<EventRef> path);
  void askWhatItWaitedFor();  // emits waitedForRequested() about the selected event
  void selectCorrelated();    // the call that launched the selected work, or the first work that the selected call launched
  void clearSelection();      // of event, range and row
  [[nodiscard]] std::optional<TimeRange> selectedRange() const;
  void setSelectedRange(std::optional<TimeRange> range);
  [[nodiscard]] EventRef hoveredEvent() const;
  void setHoveredEvent(EventRef event);  // outlines it where it is in sight; the cursor takes it over
  // Events that the selected one launched, or that launched it.
  [[nodiscard]] const std::vector<EventRef>& correlatedEvents() const;

  // Shades the idle time of GPUs with the colours of its causes, and lets gaps be hovered and selected: a selected gap is a selected range.
  // Of the trace or of an earlier state of it; another trace begins without.
  void setIdleTime(std::shared_ptr<const IdleTime> idle);
  // Draws and counts the time in which kernels of collectives wait for another rank apart from their transfer. Of the trace or of an earlier
  // state of it; another trace begins without.
  void setCommunicationTime(std::shared_ptr<const CommunicationTime> time);
  // The time of the loop of the program that was recorded, without iterations that warm up, and what to call it: "step *, 19 iterations".
  struct Loop {
    TimeRange range;
    QString title;
    bool operator==(const Loop&) const = default;
  };
  // Marks it in the overview; of runs that are compared one of each, A's first. None: not known, as another trace begins.
  void setLoops(std::vector<Loop> loops);
  [[nodiscard]] const std::vector<Loop>& loops() const;
  void showLoop();    // with some room on both sides, and that of the next run where it is shown already; emits loopRequested() where none is known (yet)
  void selectLoop();  // as a range, for what is said of one; likewise
  // What is in sight first: the same where there is one, of less than half of what can be shown, else everything. Nothing once somebody has moved the view or
  // selected what lies outside of the loop, nor where a part of a recording is shown.
  void openOnLoop();
  // Shows ranges that answer a question as a row above all others, in place of those before; null: none, as another trace begins. A click
  // selects one of them as a range.
  void setAnswer(std::shared_ptr<const AnswerRow> answer);
  [[nodiscard]] const std::shared_ptr<const AnswerRow>& answer() const;
  [[nodiscard]] std::optional<Gap> selectedGap() const;
  // Of those that are wide enough to be seen at this zoom: the next or previous one behind what is selected, else behind the edge of what is
  // visible.
  void selectGap(IdleTime::Direction direction);

  [[nodiscard]] const RowTree& rows() const;
  [[nodiscard]] bool isExpanded(const QString& row_key) const;
  void expandRow(const QString& row_key);
  void collapseRow(const QString& row_key);
  void expandAll();
  void collapseAll();
  void setRowFilter(const QString& text);  // shows rows whose title contains it, with their parents and children; "" shows all
  void scrollToRow(const QString& row_key);
  [[nodiscard]] int headerWidth() const;  // of the names of rows, logical pixels; at most half of the view's
  void setHeaderWidth(int width);
  // Pinned rows are shown above all others, in the order in which they were pinned.
  [[nodiscard]] bool isPinned(const QString& row_key) const;
  void pin(const QString& row_key);
  void unpin(const QString& row_key);
  // What somebody hid, showed, pinned or moved, and markers that somebody set or removed: undone and done again, the last first. Another trace
  // begins without.
  [[nodiscard]] QUndoStack& edits();
  void hideRow(const QString& row_key);  // with all rows below it
  [[nodiscard]] bool hasHiddenRows() const;
  void showHiddenRows();
  // Puts a row in front of a sibling, or behind it where it was in front of it before.
  void moveRow(const QString& row_key, const QString& sibling_key);
  // All of that at once, to be kept and restored. What is said of rows that are not there (yet) is kept for when they come.
  [[nodiscard]] const RowArrangement& rowArrangement() const;
  void setRowArrangement(RowArrangement arrangement);  // is no edit
  void arrangeRowsAsAtFirst();
  [[nodiscard]] TraceSides traceSides() const;  // as they stand, whether somebody chose or not
  void setTraceSides(TraceSides sides);         // of two traces; nothing where one is shown

  // The row that keys are about: the one whose name was clicked, or that was reached with keys; else the one under the cursor, else that
  // of the selected event; "" for none.
  [[nodiscard]] QString currentRow() const;
  void setCurrentRow(const QString& row_key);  // "" for none
  enum class RowDirection { kUp, kDown };
  void stepRow(RowDirection direction);  // makes the next row that is shown the current one
  // What these do to the current row; nothing where there is none.
  void pinRow();  // or releases it
  void hideCurrentRow();
  void toggleRow();                       // opens or closes it
  void shiftRow(RowDirection direction);  // to the other side of its next sibling
  void orderRows(RowMeasure by);          // it and its siblings, the largest first; the topmost rows where there is none
  void askForMenu();                      // of the selected event, else of the row
  void scrollRows(int pages);

  // What a row shows, for an events view: its lanes, each with the events that it takes of them.
  [[nodiscard]] std::vector<LaneSource> rowEvents(const QString& row_key) const;
  [[nodiscard]] QString rowTitle(const QString& row_key) const;
  [[nodiscard]] RowData shownRows() const;  // without those that are hidden or filtered out, with what closed ones hold

  // A time that has a name. It may be of a file that keeps it, where it has a time of that file's clock, and stays at that however the clock is set.
  struct Marker {
    Nanoseconds time = 0;  // on the axis
    QString text;
    QString file = {};         // the path; empty: of none
    Nanoseconds own_time = 0;  // where it is of a file
    bool operator==(const Marker&) const = default;
  };
  struct MarkerFile {
    QString path;
    ClockLine clock;  // from its times to those of the axis
  };
  // Those that keep markers; what is new, and what was of none so far, is of the first. Markers come to lie where the files' clocks say, and those of files
  // that are not among them (any more) go. None: markers are of no file. Is no edit.
  void setMarkerFiles(std::vector<MarkerFile> files);
  [[nodiscard]] const std::vector<Marker>& markers() const;       // by time
  void setMarkers(std::vector<Marker> markers);                   // of files that are known, at their own times there. Is no edit
  void addMarker(Nanoseconds time, const QString& text);          // where a new one would be already, a text takes the place of its text
  void addMarkers(const std::vector<Marker>& markers);            // the same of several, in one step of edits()
  void markSelection();                                           // the ends of the selected range, else the beginning of the selected event
  void setMarkerText(const Marker& marker, const QString& text);  // nothing where it is not there, as the next
  void removeMarker(const Marker& marker);
  void clearMarkers();
  enum class MarkerDirection { kNext, kPrevious };
  void goToMarker(MarkerDirection direction);  // from the last one that this went to where it is still in sight, else from the centre
  void askForMarker();                         // a named one, at the selected event, the beginning of the selected range, the cursor or the centre
  // Shows the surroundings of a time, at the current zoom.
  void goToTime(Nanoseconds time);
  void askForTime();  // then as goToTime(); a range ("1ms:2.5ms") becomes the visible one
  // Moves the beginning or end of the selected range to the edge of an event that is nearest to the cursor, else to that of the selected
  // event: two of them measure what is between.
  enum class RangeEnd { kBegin, kEnd };
  void measureFrom(RangeEnd end);

  // Highlights on every row the events whose names contain the text, without regard to case; "" ends it.
  void setHighlightedText(const QString& text);
  [[nodiscard]] QString highlightedText() const;
  [[nodiscard]] std::uint64_t highlightedCount() const;  // O(events) the first time
  // Selects and shows the next or previous one, by start, from the selected event or the beginning of what is visible.
  void selectNextHighlighted();
  void selectPreviousHighlighted();

  // Gesture and what it does, for a "keyboard and mouse" sheet.
  [[nodiscard]] std::vector<std::pair<QString, QString>> helpText() const;

  // Other keys for a command than it has at first, by its id.
  void setKeys(const QString& command, std::vector<QKeyCombination> keys);
  // What the key does here; false where it does nothing. For who has the keyboard and no use for it.
  bool actOn(const QKeyEvent& event);
  [[nodiscard]] const std::vector<QKeyCombination>& keysOf(const TimelineCommand& command) const;

  // What is seen but what follows the mouse, drawn at `scale` device pixels a logical one. Null where there is not enough memory for it. O(pixels).
  [[nodiscard]] QImage picture(double scale);
  // The rows that are in it, as a picture of lines has them.
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
  void eventActivated(lanescope::EventRef event);  // double-clicked
  void rowContextMenuRequested(const QString& row_key, const QPoint& global_position);
  void eventContextMenuRequested(lanescope::EventRef event, const QString& row_key, const QPoint& global_position);
  void markersChanged();
  void markersEdited();  // by somebody: they are worth keeping
  void waitedForRequested();
  // Of a trace whose events are read when they are needed: to look through all of them takes long.
  void highlightedRequested(lanescope::timeline::EventMatches::Direction direction);
  void gapsRequested();
  void loopRequested(lanescope::timeline::LoopUse use);  // it is to be shown, or selected, once it is known
  void rowScaleChanged(double scale);
  void headerWidthChanged(int width);  // by somebody, who dragged its border
  void rowArrangementChanged();        // rows were expanded, pinned, hidden or moved, or others are there
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
