// Durations by name of the shown events, and their histogram.
#pragma once

#include <QTableView>
#include <QWidget>

#include "base/latest_job.h"
#include "base/selection_state.h"
#include "events/shown_events.h"
#include "panels/duration_chart.h"
#include "panels/statistics_model.h"

namespace lanescope::ui {

class StatisticsPanel : public QWidget {
  Q_OBJECT

 public:
  StatisticsPanel(SelectionState& state, ShownEvents& shown, QWidget* parent = nullptr);

  [[nodiscard]] const StatisticsModel& model() const { return *model_; }
  [[nodiscard]] bool isComputing() const { return statistics_job_.isRunning() || histogram_job_.isRunning(); }

 protected:
  void showEvent(QShowEvent* event) override;  // nothing is computed while the panel is hidden

 private:
  void compute();
  void computeHistogram();
  void filterToName(const QModelIndex& index);
  [[nodiscard]] const NameStatistics* selectedEntry() const;

  SelectionState& state_;
  ShownEvents& shown_;
  std::shared_ptr<const EventList> computed_;  // what the table is about
  StatisticsModel* model_;
  QTableView* table_;
  DurationChart* chart_;
  LatestJob statistics_job_;
  LatestJob histogram_job_;
};

}  // namespace lanescope::ui
