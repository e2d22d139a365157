// A histogram of durations: how often events took how long, on a logarithmic time axis. It is given aggregates, never events.
#pragma once

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
};

}  // namespace lanescope::ui
