// A histogram of durations: how often events took how long, on a logarithmic time axis. It is given aggregates, never events.
#pragma once

#include <QCategoryAxis>
#include <QChartView>

#include "model/events/event_statistics.h"

namespace lanescope::ui {

class DurationChart : public QChartView {
  Q_OBJECT

 public:
  explicit DurationChart(QWidget* parent = nullptr);

  void setHistogram(const QString& title, const DurationHistogram& histogram);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showTitle();
  void mark();

  QString title_;
  DurationHistogram histogram_;
  QCategoryAxis* marks_ = nullptr;  // of the durations; the chart's
};

}  // namespace lanescope::ui
