// The roofline of a kernel: its performance below the limits of its GPU.
#pragma once

#include <QChartView>

#include "model/kernels/counters/roofline.h"

namespace lanescope::ui {

class RooflineChart : public QChartView {
  Q_OBJECT

 public:
  explicit RooflineChart(QWidget* parent = nullptr);
  // Requires: `roofline` is not empty.
  void setRoofline(const kernels::Roofline& roofline);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void applyLook();
  void placeLegend();
};

}  // namespace lanescope::ui
