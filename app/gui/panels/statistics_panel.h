// Durations by name of the shown events, their sums by columns, or a report; beside them how durations are distributed and how busy GPUs were over time. The
// name of the selected event is selected, that of the event under the cursor marked; and the other way round, a name's longest event.
//
// Nothing is computed while the panel is hidden.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
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

  // What is shown, for the command line: a file, a folder, or several files as one.
  void setFiles(const QStringList& paths);
  // A report by its name; durations by name where it is empty, by family of names where it is kFamilies, by columns where it is kColumns.
  static constexpr const char* kFamilies = "families";
  static constexpr const char* kColumns = "columns";
  void chooseReport(const QString& name);

  [[nodiscard]] const StatisticsModel& model() const { return *model_; }
  [[nodiscard]] QLabel& reason() { return *nothing_; }  // why nothing, or not all, is counted; out of sight where all is
  [[nodiscard]] ReportPage& report() { return *report_; }
  [[nodiscard]] PivotPage& pivot() { return *pivot_; }
  [[nodiscard]] QString command() const { return command_->text(); }
  [[nodiscard]] bool isComputing() const {
    return picking_job_.isRunning() || statistics_job_.isRunning() || histogram_job_.isRunning() || utilisation_job_.isRunning() || report_->isComputing() ||
           pivot_->isComputing();
  }

 signals:
  void eventsRequested();  // the list of events is to be seen

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  void fillChoice();
  void showChoice();
  void showCommand();
  void clear();
  void compute();
  void computeOf(const std::shared_ptr<const EventList>& events);
  void computeStatistics();
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
  std::shared_ptr<const EventList> computed_;  // what the table is about, of the trace that is answered about
  std::shared_ptr<const EventList> taken_;     // from `shown_`
  std::shared_ptr<const EventList> named_;     // of which the names are
  bool is_nothing_counted_ = false;            // of `computed_`
  QString lack_;                               // why nothing can be counted: events that can't be read any more; empty where all can
  AnsweredTraceBox* of_;
  QComboBox* choice_;
  QLabel* command_;
  QStackedWidget* pages_;
  StatisticsModel* model_;
  QTableView* table_;
  int fitted_ = 0;  // width of the names, as it was set last; 0: not yet
  ReportPage* report_;
  PivotPage* pivot_;
  QLabel* nothing_;  // why nothing, or not all, is listed
  QSplitter* charts_;
  DurationChart* durations_;
  UtilisationChart* utilisation_;  // of GPUs, where there is room for both
  QStringList files_;
  LatestJob picking_job_;  // of the events that are answered about
  LatestJob statistics_job_;
  LatestJob histogram_job_;
  LatestJob utilisation_job_;
  std::shared_ptr<const UtilisationSource> utilisation_source_;
};

}  // namespace lanescope::ui
