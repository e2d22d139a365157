// The result of a fleet's recipe: a heat map of its ranks by steps, from which the recordings of ranks can be opened at a step.
#pragma once

#include <vector>

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QPushButton>

#include "fleet/fleet_file.h"
#include "fleet/heat_map_view.h"

namespace lanescope::ui {

// A step of a rank in its recording.
struct FleetPlace {
  QString file;
  FleetSource::Cell at;
};

class FleetWindow : public QDialog {
  Q_OBJECT

 public:
  FleetWindow(FleetFile fleet, const QString& path, QWidget* parent = nullptr);

  [[nodiscard]] HeatMapView& heatMap() { return *view_; }
  // The places of the chosen cells; empty if one of them has no recording or no known time.
  [[nodiscard]] std::vector<FleetPlace> chosen() const;

 signals:
  void openRequested(const std::vector<lanescope::ui::FleetPlace>& places);  // at least one

 private:
  void layOut();
  void showMap(int number);
  void showChosen();
  void open();

  FleetFile fleet_;
  QComboBox* measure_;
  HeatMapView* view_;
  QLabel* legend_;
  QLabel* chosen_;
  QPushButton* open_;
};

}  // namespace lanescope::ui
