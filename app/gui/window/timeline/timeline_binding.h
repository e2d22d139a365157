// Keeps a timeline and the shared state in step, and offers menus for the rows and events of the timeline.
#pragma once

#include <QKeySequence>
#include <QObject>

#include "base/state/selection_state.h"
#include "timeline/widget/timeline_view.h"

class QMenu;

namespace lanescope::ui {

class TimelineBinding : public QObject {
  Q_OBJECT

 public:
  // Both must outlive the binding; the timeline uses the selection of the state.
  TimelineBinding(timeline::TimelineView& view, SelectionState& state, QObject* parent = nullptr);

  // Lists the events of a row: "Show in Events View".
  void showRowEvents(const QString& row_key);
  // Filters the list of events to a family of names, for example "step *", in all rows.
  void filterToFamily(const std::string& family);

 signals:
  void eventsRequested();                                   // the user asked for the events view
  void statisticsRequested();                               // ... for the statistics
  void bubblesRequested();                                  // ... for the idle time
  void saveRequested();                                     // ... to save a part of the trace
  void kernelRequested(lanescope::EventRef kernel);         // ... for the kernel panel
  void kernelProfileRequested(lanescope::EventRef kernel);  // ... for its counters, which need another run of the program
  void sourceRequested(lanescope::EventRef kernel);         // ... for its source lines
  void flameGraphRequested(lanescope::ThreadId thread);
  void flameGraphOfTimeRequested(lanescope::ThreadId thread, lanescope::TimeRange time);
  void flameGraphOfProcessRequested(lanescope::ProcessId process);

 private:
  void showTrace(TraceChange change);
  [[nodiscard]] std::optional<ThreadId> threadOf(const QString& row_key) const;
  [[nodiscard]] std::optional<ProcessId> processOf(const QString& row_key) const;
  [[nodiscard]] QKeySequence keyOf(QLatin1String command_id) const;  // timeline::TimelineCommand::id
  void addRow(QMenu& menu, const QString& row_key);
  void addRange(QMenu& menu);
  void addZooms(QMenu& menu);
  void addKernel(QMenu& menu, EventRef event);
  void showRowMenu(const QString& row_key, const QPoint& position);
  void showGapMenu(const timeline::Gap& gap, const QString& row_key, const QPoint& position);
  void showTimeMenu(Nanoseconds time, const QPoint& position);
  void showEventMenu(EventRef event, const QString& row_key, const QPoint& position);
  void filterToName(const Trace& trace, EventRef event);

  timeline::TimelineView& view_;
  SelectionState& state_;
};

}  // namespace lanescope::ui
