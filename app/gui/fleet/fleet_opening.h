// Opens the recordings of ranks at a step: two beside each other on one time axis, set to each other as the fleet's clocks are; more as one trace,
// whose clocks are set as ever.
//
// Threads: the GUI thread only.
#pragma once

#include <vector>

#include <QObject>

#include "fleet/fleet_window.h"
#include "session/session_controller.h"

namespace lanescope::ui {

class FleetOpening : public QObject {
  Q_OBJECT

 public:
  // Both must outlive it.
  FleetOpening(SessionController& session, SelectionState& state, QObject* parent = nullptr);

  // Shows the step once all is there; what another file takes the place of meanwhile is not shown. Requires: at least one place.
  void open(std::vector<FleetPlace> places);

 private:
  void showOpened(const QString& path);
  void alignOpened(const QString& path);
  [[nodiscard]] QStringList files() const;  // of what is waiting, each once

  SessionController& session_;
  SelectionState& state_;
  std::vector<FleetPlace> waiting_;  // to be shown
};

}  // namespace lanescope::ui
