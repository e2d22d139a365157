#include "base/input/wheel_rule.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>

namespace lanescope::ui {
namespace {

// Null if the widget is neither such a field nor a part of one.
QWidget* field_of(QObject* watched) {
  auto* widget = qobject_cast<QWidget*>(watched);
  for (QWidget* part = widget; part != nullptr && (part == widget || part == widget->parentWidget()); part = part->parentWidget())
    if (qobject_cast<QComboBox*>(part) != nullptr || qobject_cast<QAbstractSpinBox*>(part) != nullptr) return part;
  return nullptr;
}

}  // namespace

WheelRule::WheelRule() { qApp->installEventFilter(this); }

bool WheelRule::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Wheel && event->type() != QEvent::Polish) return false;
  QWidget* const field = field_of(watched);
  if (field == nullptr) return false;
  if (event->type() == QEvent::Polish) {  // the wheel must not move the focus to the field, either
    if (field->focusPolicy() == Qt::WheelFocus) field->setFocusPolicy(Qt::StrongFocus);
    return false;
  }
  const QWidget* const focus = QApplication::focusWidget();
  if (focus != nullptr && (focus == field || field->isAncestorOf(focus))) return false;
  event->ignore();
  return true;
}

}  // namespace lanescope::ui
