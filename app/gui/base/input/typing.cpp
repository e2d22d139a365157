#include "base/input/typing.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextEdit>

namespace lanescope::ui {

bool takes_typing(const QWidget& widget) {
  const auto is_written = [](const auto* editor) { return editor != nullptr && !editor->isReadOnly(); };
  return qobject_cast<const QLineEdit*>(&widget) != nullptr || qobject_cast<const QComboBox*>(&widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr || is_written(qobject_cast<const QTextEdit*>(&widget)) ||
         is_written(qobject_cast<const QPlainTextEdit*>(&widget));
}

bool is_left_by_lists(const QKeyEvent& event) {
  if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
  switch (event.key()) {
    case Qt::Key_Backspace:
      return true;
    case Qt::Key_Space:  // selects
    case Qt::Key_Plus:   // these three open and close lines of trees
    case Qt::Key_Minus:
    case Qt::Key_Asterisk:
      return false;
    default:
      return !event.text().isEmpty() && event.text().front().isPrint();
  }
}

}  // namespace lanescope::ui
