// When a trace is opened while a panel is in front that has nothing to say about it, such as idle time of GPUs that did nothing, brings one to the front that
// has. The user's own panel returns with the next trace about which it has something to say, and is in front at the next start.
//
// Threads: the GUI thread only.
#pragma once

#include <QString>

#include "model/trace/trace.h"
#include "window/docks/panel_docks.h"

namespace lanescope::ui {

class TellingPanel {
 public:
  explicit TellingPanel(PanelDocks& docks) : docks_(docks) {}

  void showFor(const Trace& trace);
  // Brings the user's own panel to the front if another one stands in for it: for the layout that is stored.
  void giveBack();

 private:
  [[nodiscard]] QString standInFor(const QString& silent, const Trace& trace) const;

  PanelDocks& docks_;
  QString usual_;     // the user's panel; empty: it is in front
  QString stand_in_;  // what was brought to the front instead
};

}  // namespace lanescope::ui
