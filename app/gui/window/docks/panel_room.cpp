#include "window/docks/panel_room.h"

#include <QEvent>
#include <QKeyEvent>

namespace lanescope::ui {
namespace {

// What a window of 683 x 384 leaves, a screen of 1366 x 768 pixels at scale 2, beside Details and below the timeline.
constexpr QSize kMostNeeded(560, 32);  // px

}  // namespace

PanelRoom::PanelRoom(QWidget& panel) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setFocusPolicy(Qt::NoFocus);
  setWidget(&panel);
  // The panel has the window's background, as without this. An opaque one would cover the dock, whose visible region tells whether it is in sight.
  panel.setAutoFillBackground(false);
  viewport()->setAutoFillBackground(false);
}

QSize PanelRoom::minimumSizeHint() const { return widget()->minimumSizeHint().expandedTo(widget()->minimumSize()).boundedTo(kMostNeeded); }

bool PanelRoom::eventFilter(QObject* watched, QEvent* event) {
  if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
  return QScrollArea::eventFilter(watched, event);
}

// Keys that the panel does not take are for the timeline.
void PanelRoom::keyPressEvent(QKeyEvent* event) { event->ignore(); }

}  // namespace lanescope::ui
