// Opens the recordings of ranks at a step: two beside each other on one time axis, aligned by the clocks of the fleet; more as one trace, whose clocks are
// aligned as usual.
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
  // Both must outlive this object.
  FleetOpening(SessionController& session, SelectionState& state, QObject* parent = nullptr);

  // Shows the step when all files are open, unless another file was opened meanwhile. Requires: at least one place.
  void open(std::vector<FleetPlace> places);

 signals:
  void wished(const lanescope::ui::Wish& wish);  // a file should be opened, unless the user keeps what is shown

 private:
  void showOpened(const QString& path);
  void alignOpened(const QString& path);
  [[nodiscard]] QStringList files() const;  // the files of waiting_, each once

  SessionController& session_;
  SelectionState& state_;
  std::vector<FleetPlace> waiting_;  // places to be shown
};

}  // namespace lanescope::ui
