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
  setFocusPolicy(Qt::NoFocus);
  setWidget(&panel);
  // The panel has the window's background, as without this. An opaque one would cover the dock, whose visible region tells whether it is in sight.
  panel.setAutoFillBackground(false);
  viewport()->setAutoFillBackground(false);
}

QSize PanelRoom::minimumSizeHint() const { return least().boundedTo(kMostNeeded); }

// The panel has the whole room, or else what it needs at least. QScrollArea would give a panel with a line that wraps the height that it prefers.
void PanelRoom::fit() {
  const QSize all = maximumViewportSize(), needed = least();
  const bool has_room = needed.width() <= all.width() && needed.height() <= all.height();
  widget()->resize((has_room ? all : viewport()->size()).expandedTo(needed));
}

void PanelRoom::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

bool PanelRoom::eventFilter(QObject* watched, QEvent* event) {
  if (watched == widget() && event->type() == QEvent::LayoutRequest) {
    updateGeometry();
    fit();
  }
  return QScrollArea::eventFilter(watched, event);
}

// Keys that the panel does not take are for the timeline.
void PanelRoom::keyPressEvent(QKeyEvent* event) { event->ignore(); }

}  // namespace lanescope::ui
