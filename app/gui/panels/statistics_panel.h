// Durations by name of the shown events, their sums by columns, or a report; beside them the distribution of durations and how busy GPUs were over time. The
// name of the selected event is selected, and the name of the event under the cursor is marked. Choosing a name selects its longest event.
//
// Nothing is computed while the panel is hidden. If it takes long to count what is chosen now, the panel says so instead of showing what it counted before.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "events/shown_events.h"
#include "panels/duration_chart.h"
#include "panels/pivot_page.h"
#include "panels/report_page.h"
#include "panels/statistics_model.h"
#include "panels/utilisation_chart.h"

namespace lanescope::ui {

class StatisticsPanel : public QWidget {
  Q_OBJECT

 public:
  StatisticsPanel(SelectionState& state, AnsweredTrace& answered, ShownEvents& shown, QWidget* parent = nullptr);

  // The paths that are shown, for the command line: a file, a folder, or several files as one trace.
  void setFiles(const QStringList& paths);
  // A report by its name; empty: durations by name; kFamilies: by family of names; kColumns: by columns.
  static constexpr const char* kFamilies = "families";
  static constexpr const char* kColumns = "columns";
  void chooseReport(const QString& name);

  [[nodiscard]] const StatisticsModel& model() const { return *model_; }
  [[nodiscard]] QLabel& reason() { return *nothing_; }  // why nothing, or not everything, is counted; hidden if everything is
  [[nodiscard]] ReportPage& report() { return *report_; }
  [[nodiscard]] PivotPage& pivot() { return *pivot_; }
  [[nodiscard]] QString command() const { return command_->text(); }
  [[nodiscard]] bool isComputing() const {
    return picking_job_.isRunning() || partly_in_job_.isRunning() || statistics_job_.isRunning() || histogram_job_.isRunning() ||
           utilisation_job_.isRunning() || report_->isComputing() || pivot_->isComputing();
  }

 signals:
  void eventsRequested();  // the list of events is to be shown

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  void fillChoice();
  void showChoice();
  void showCommand();
  void followChoice();
  [[nodiscard]] bool isOfChoice() const;
  [[nodiscard]] QString whatIsCounted() const;
  void clear();
  void compute();
  void computeOf(const std::shared_ptr<const EventList>& events);
  void computeStatistics();
  void countPartlyIn();
  void sayPartlyIn(const QString& text);  // empty: nothing
  void showWhyNothing();
  [[nodiscard]] QString whyNothing() const;
  [[nodiscard]] AnsweredTrace::Choice otherChoice() const;
  void followLink(const QString& link);
  [[nodiscard]] bool isByColumns() const;
  [[nodiscard]] QStringList sumCommand() const;
  [[nodiscard]] Grouping grouping() const;
  void computeHistogram();
  void fitNames();
  void showUtilisation();
  void computeUtilisation();
  void filterToName(const QModelIndex& index);
  void showSelected();
  [[nodiscard]] std::optional<std::pair<EventKind, NameId>> entryOf(EventRef event) const;
  [[nodiscard]] EventRef longestOf(const QModelIndex& index) const;
  [[nodiscard]] const NameStatistics* selectedEntry() const;

  SelectionState& state_;
  AnsweredTrace& answered_;
  ShownEvents& shown_;
  std::shared_ptr<const EventList> computed_;  // what the table covers, of the trace that is answered about
  std::shared_ptr<const EventList> taken_;     // the list of `shown_`
  std::shared_ptr<const EventList> named_;     // the list that the names belong to
  std::shared_ptr<const EventList> summed_;    // the list whose sums the table shows
  bool is_nothing_counted_ = false;            // in `computed_`
  QString lack_;                               // why nothing can be counted: events that can no longer be read; empty if all can be read
  AnsweredTraceBox* of_;
  QComboBox* choice_;
  QLabel* partly_in_;  // how many events of the part of time reach out of it
  QLabel* command_;
  QStackedWidget* counted_;  // the sums with their charts, or `counting_`
  QLabel* counting_;         // says what is being counted
  QTimer patience_{this};    // how long the sums of an earlier choice stay
  QStackedWidget* pages_;
  StatisticsModel* model_;
  QTableView* table_;
  int fitted_ = 0;  // width of the names as set last; 0: not yet set
  ReportPage* report_;
  PivotPage* pivot_;
  QLabel* nothing_;  // why nothing, or not everything, is listed
  QSplitter* charts_;
  DurationChart* durations_;
  UtilisationChart* utilisation_;  // of GPUs, if there is room for both charts
  QStringList files_;
  LatestJob picking_job_;  // picks the events of the trace that is answered about
  LatestJob partly_in_job_;
  LatestJob statistics_job_;
  LatestJob histogram_job_;
  LatestJob utilisation_job_;
  std::shared_ptr<const UtilisationSource> utilisation_source_;
};

}  // namespace lanescope::ui
