#include "input/prompt.h"

#include <utility>

#include <QKeyEvent>

namespace lanescope::timeline {

Prompt::Prompt(QWidget* parent) : QLineEdit(parent) {
  hide();
  connect(this, &QLineEdit::returnPressed, this, [this] {
    if (accept_ && accept_(text())) return closePrompt();
    selectAll();
    QPalette wrong = parentWidget()->palette();
    wrong.setColor(QPalette::Text, QColor(0xc6, 0x28, 0x28));
    setPalette(wrong);
  });
  connect(this, &QLineEdit::textEdited, this, [this] { setPalette(parentWidget()->palette()); });
}

void Prompt::ask(const QString& what, const QRect& place, Accept accept, OnLeaving on_leaving) {
  accept_ = std::move(accept);
  on_leaving_ = on_leaving;
  setAccessibleName(what);
  setPlaceholderText(what);
  setPalette(parentWidget()->palette());
  clear();
  setGeometry(place);
  show();
  raise();
  setFocus(Qt::PopupFocusReason);
}

void Prompt::closePrompt() {
  accept_ = nullptr;
  hide();
  parentWidget()->setFocus();
}

void Prompt::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return closePrompt();
  QLineEdit::keyPressEvent(event);
  event->accept();  // typed text must not be handled as a command of the timeline
}

void Prompt::focusOutEvent(QFocusEvent* event) {
  QLineEdit::focusOutEvent(event);
  const bool is_within = event->reason() == Qt::PopupFocusReason || event->reason() == Qt::ActiveWindowFocusReason;  // its context menu; another window
  if (!isVisible() || is_within) return;
  const Accept accept = std::exchange(accept_, nullptr);
  hide();
  if (accept && on_leaving_ == OnLeaving::kKept && !text().isEmpty()) static_cast<void>(accept(text()));
}

}  // namespace lanescope::timeline
