// Menus that come up where a user asks for them, and the parts of the timeline on which they are asked for.
#pragma once

#include <functional>

#include <QContextMenuEvent>
#include <QMenu>
#include <QPointer>
#include <QTest>
#include <QTimer>

#include "timeline/core/viewport.h"
#include "window/main_window.h"

namespace lanescope::test {

// What the menu offers that `open` brings up. The entry that is called `choice` is chosen with the keyboard; without one, it is closed. `meanwhile`
// happens in front of that, while the menu is open.
inline QStringList menu_after(const std::function<void()>& open, const QString& choice = {}, const std::function<void()>& meanwhile = {}) {
  QStringList entries;
  QTimer look;
  look.setInterval(1);
  QObject::connect(&look, &QTimer::timeout, [&] {
    const QPointer<QMenu> menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) return;
    look.stop();
    if (meanwhile) meanwhile();
    if (menu == nullptr) return;  // it closed itself
    QAction* chosen = nullptr;
    for (QAction* action : menu->actions()) {
      if (action->isSeparator()) continue;
      entries += action->text().remove(u'&');
      if (!choice.isEmpty() && entries.last() == choice) chosen = action;
    }
    if (chosen != nullptr) menu->setActiveAction(chosen);
    QTest::keyClick(menu, chosen != nullptr ? Qt::Key_Return : Qt::Key_Escape);
  });
  look.start();
  open();
  return entries;
}

inline void right_click(QWidget& widget, QPoint at) {
  QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
  QApplication::sendEvent(&widget, &event);
}

inline QWidget* part(ui::MainWindow& window, const QString& accessible_name) {
  for (QWidget* widget : window.timelineView().findChildren<QWidget*>())
    if (widget->accessibleName() == accessible_name) return widget;
  return nullptr;
}

inline EventRef kernel_number(ui::MainWindow& window, EventIndex index) {
  for (const Track& track : window.state().trace()->tracks())
    if (track.key.kind == TrackKind::kKernels) return {track.lanes.front(), index};
  return {};
}

// The middle of an event on the row of its stream, where the canvas shows it.
inline QPoint place_of(ui::MainWindow& window, EventRef event) {
  QWidget* canvas = part(window, "Timeline rows");
  const timeline::Viewport viewport{window.timelineView().visibleRange(), canvas->width()};
  const Event shown = window.state().trace()->event(event);
  const int x = static_cast<int>(viewport.x_at(shown.start + shown.duration / 2));
  for (int y = 0; y < canvas->height(); y += 3) {
    QMouseEvent move(QEvent::MouseMove, QPointF(x, y), canvas->mapToGlobal(QPointF(x, y)), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(canvas, &move);
    if (window.timelineView().hoveredEvent() == event) return {x, y + 3};
  }
  return {};
}

}  // namespace lanescope::test
