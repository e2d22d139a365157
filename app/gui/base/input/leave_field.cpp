#include "base/input/leave_field.h"

#include <utility>

#include <QAction>

namespace lanescope::ui {

void leave_with_escape(QLineEdit& field, std::function<void()> then) {
  auto* leave = new QAction(&field);
  leave->setShortcut(QKeySequence(Qt::Key_Escape));
  leave->setShortcutContext(Qt::WidgetShortcut);
  field.addAction(leave);
  QObject::connect(leave, &QAction::triggered, &field, [&field, then = std::move(then)] {
    field.clear();
    then();
  });
}

}  // namespace lanescope::ui
