// Menus that come up where a user asks for them, and the parts of the timeline on which they are asked for.
#pragma once

#include <functional>

#include <QContextMenuEvent>
#include <QMenu>
#include <QTest>
#include <QTimer>

#include "window/main_window.h"

namespace lanescope::test {

// What the menu offers that `open` brings up. The entry that is called `choice` is chosen with the keyboard; without one, it is closed.
inline QStringList menu_after(const std::function<void()>& open, const QString& choice = {}) {
  QStringList entries;
  QTimer look;
  look.setInterval(1);
  QObject::connect(&look, &QTimer::timeout, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) return;
    look.stop();
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

}  // namespace lanescope::test
