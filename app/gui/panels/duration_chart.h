// A histogram of durations on a logarithmic time axis. Its input is aggregated, never single events.
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
  QCategoryAxis* marks_ = nullptr;  // labels of the durations; owned by the chart
};

}  // namespace lanescope::ui
