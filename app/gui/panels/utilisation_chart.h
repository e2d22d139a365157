// Draws how busy GPUs were over time: one area, or a line for each of several GPUs.
#pragma once

#include <QChartView>

#include "panels/utilisation.h"

namespace lanescope::ui {

class UtilisationChart : public QChartView {
  Q_OBJECT

 public:
  explicit UtilisationChart(QWidget* parent = nullptr);

  void setUtilisation(const Utilisation& utilisation);
  [[nodiscard]] bool isEmpty() const { return chart()->series().isEmpty(); }  // it shows no GPU

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void applyLook();
};

}  // namespace lanescope::ui
