// What all views show of a trace, and what is selected: the state that timeline, events view, details and statistics share.
//
// A view sets what its user did and follows the signals. Each signal is emitted once for each change, whichever view caused it, and never for a call that
// changes nothing, so that views which follow each other do not loop.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>
#include <QString>

#include "model/events/event_query.h"
#include "model/events/event_values.h"
#include "model/trace/trace.h"
#include "timeline/core/rows/row_tree.h"
#include "timeline/widget/selection.h"

namespace lanescope::ui {

enum class TraceChange { kOther, kSnapshot };  // another trace; a later state of the same one

// The row of the timeline whose events are listed.
struct ShownRow {
  QString key;
  QString title;
  std::vector<timeline::LaneSource> sources;
  bool operator==(const ShownRow&) const = default;
};

// The part of time that lists and statistics cover.
enum class TimeBinding {
  kWholeTrace,
  kSelectedRange,  // the whole trace if no range is selected
  kVisibleRange,   // what the timeline shows
};

class SelectionState : public QObject {
  Q_OBJECT

 public:
  explicit SelectionState(QObject* parent = nullptr);

  // Null: no trace. Setting another trace clears what was selected, shown and filtered.
  void setTrace(std::shared_ptr<const Trace> trace, TraceChange change);
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }

  // What timelines share with all other views; its events are of trace().
  [[nodiscard]] timeline::Selection& selection() { return selection_; }
  // Finds the event of an earlier or later state of the trace in trace(); the result is not valid if the event is not there. O(tracks + log n); O(1) if it is
  // the same state.
  [[nodiscard]] EventRef inTrace(EventRef event, const Trace& of) const;
  void setSelectedEvent(EventRef event) { selection_.select(event); }  // {} clears
  [[nodiscard]] EventRef selectedEvent() const { return selection_.event(); }
  void setHoveredEvent(EventRef event) { selection_.hover(event); }
  [[nodiscard]] EventRef hoveredEvent() const { return selection_.hovered(); }
  void setSelectedRange(std::optional<TimeRange> range) { selection_.selectRange(range); }
  [[nodiscard]] std::optional<TimeRange> selectedRange() const { return selection_.range(); }
  void setVisibleRange(TimeRange range);
  [[nodiscard]] TimeRange visibleRange() const { return visible_range_; }

  // What lists and statistics cover: a row (none: the whole trace), a part of time, and a filter whose time window is not used.
  void setShownRow(std::optional<ShownRow> row);
  [[nodiscard]] const std::optional<ShownRow>& shownRow() const { return shown_row_; }
  void setTimeBinding(TimeBinding binding);
  [[nodiscard]] TimeBinding timeBinding() const { return time_binding_; }
  void setFilter(const EventFilter& filter);
  [[nodiscard]] const EventFilter& filter() const { return filter_; }
  // The part of time that the binding stands for now; nothing: all of it.
  [[nodiscard]] std::optional<TimeRange> boundRange() const;

  // While a program is recorded: its clock, in times of the trace, and the events of the trace that are open at that time.
  void setOpenEvents(std::vector<EventRef> events, std::optional<Nanoseconds> now);
  // The clock if the event is open; nothing if it has ended.
  [[nodiscard]] std::optional<Nanoseconds> openAt(EventRef event) const;
  [[nodiscard]] OpenEvents openEvents() const;  // those of trace()

  // Asks for the event to be brought into view, with this part of time around it (nothing: a suitable one); selects it.
  void activate(EventRef event, std::optional<TimeRange> around = std::nullopt);
  // Asks for the event to be brought into view at the present zoom; selects it.
  void reveal(EventRef event);

 signals:
  void traceChanged(lanescope::ui::TraceChange change);
  void selectedEventChanged(lanescope::EventRef event);
  void hoveredEventChanged(lanescope::EventRef event);
  void selectedRangeChanged(std::optional<lanescope::TimeRange> range);
  void selectedGapChanged();
  void visibleRangeChanged(lanescope::TimeRange range);
  void shownRowChanged();
  void timeBindingChanged();
  void boundRangeChanged();
  void openEventsChanged();  // or the clock
  void filterChanged();
  void activated(lanescope::EventRef event, std::optional<lanescope::TimeRange> around);
  void revealed(lanescope::EventRef event);

 private:
  void followBoundRange();

  std::shared_ptr<const Trace> trace_;
  timeline::Selection selection_;
  TimeRange visible_range_;
  std::optional<ShownRow> shown_row_;
  TimeBinding time_binding_ = TimeBinding::kSelectedRange;
  EventFilter filter_;
  std::vector<EventRef> open_events_;
  std::optional<Nanoseconds> now_;
  std::optional<TimeRange> bound_range_;  // when boundRangeChanged() was emitted last
};

}  // namespace lanescope::ui
