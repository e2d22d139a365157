// The listed events summed by one or two columns that the user chooses. The longest event of a group represents it in other views; Enter or a double-click
// lists only the group's events.
//
// Threads: the GUI thread only; sums are computed on another one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QComboBox>
#include <QLabel>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "events/shown_events.h"
#include "events/value_chips.h"
#include "model/events/event_pivot.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class PivotPage : public QWidget {
  Q_OBJECT

 public:
  explicit PivotPage(SelectionState& state, QWidget* parent = nullptr);

  // Null: none. Setting the same events again changes nothing.
  void setEvents(std::shared_ptr<const EventList> events);
  // One or two columns.
  void chooseColumns(const std::vector<PivotColumn>& columns);
  [[nodiscard]] std::vector<PivotColumn> columns() const;
  [[nodiscard]] ResultTable& table() { return *table_; }
  // What all events of the chosen group have in common; empty if no group is chosen.
  [[nodiscard]] std::vector<ColumnValue> chosenGroup() const;
  [[nodiscard]] bool isComputing() const { return job_.isRunning(); }
  // The events that the table sums; null: none. While others are being summed, they are not those that were set last.
  [[nodiscard]] const EventList* summed() const { return made_of_.get(); }
  [[nodiscard]] const LatestJob& summing() const { return job_; }

 signals:
  void columnsChanged();
  void groupChosen();      // or the choice was cleared
  void eventsRequested();  // the list of events is to be shown

 private:
  void offerRuns();
  void offerColumns();
  void compute();
  void show(std::vector<PivotGroup> groups);
  void choose(TableRow row);
  void listGroup(TableRow row);
  [[nodiscard]] std::vector<ColumnValue> valuesOf(TableRow row) const;

  SelectionState& state_;
  std::shared_ptr<const EventList> events_;
  std::vector<PivotColumn> made_by_;          // the columns of the table
  std::shared_ptr<const EventList> made_of_;  // the events that groups_ sums; differs from events_ while those are being summed
  std::vector<PivotGroup> groups_;            // one for each row of the table
  QComboBox* first_;
  QComboBox* second_;
  QComboBox* kind_;  // the kind in the filter of events
  QLabel* progress_;
  ResultTable* table_;
  LatestJob job_;
};

}  // namespace lanescope::ui
