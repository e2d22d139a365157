#include "base/input/typing.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextEdit>

namespace lanescope::ui {

bool takes_typing(const QWidget& widget) {
  const auto is_written = [](const auto* editor) { return editor != nullptr && !editor->isReadOnly(); };
  return qobject_cast<const QAbstractItemView*>(&widget) != nullptr || qobject_cast<const QLineEdit*>(&widget) != nullptr ||
         qobject_cast<const QComboBox*>(&widget) != nullptr || qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr ||
         is_written(qobject_cast<const QTextEdit*>(&widget)) || is_written(qobject_cast<const QPlainTextEdit*>(&widget));
}

bool is_typed(const QKeyEvent& event) {
  return (event.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier && !event.text().isEmpty() && event.text().front().isPrint();
}

}  // namespace lanescope::ui
