#include "base/text/breaking_line.h"

#include <QEvent>

namespace lanescope::ui {

BreakingLine::BreakingLine(QWidget* first, QWidget* second, Stretched stretched, QWidget* parent)
    : QWidget(parent), first_(first), second_(second), line_(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
  line_->setContentsMargins(0, 0, 0, 0);
  line_->setSpacing(4);
  line_->addWidget(first, stretched == Stretched::kFirst ? 1 : 0);
  line_->addWidget(second, stretched == Stretched::kSecond ? 1 : 0);
}

void BreakingLine::setFirstWidth(int width) {
  first_width_ = width;
  fit();
}

void BreakingLine::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

bool BreakingLine::event(QEvent* event) {
  const bool handled = QWidget::event(event);
  if (event->type() == QEvent::LayoutRequest) fit();
  return handled;
}

void BreakingLine::fit() {
  const int first = first_width_ > 0 ? first_width_ : first_->sizeHint().width();
  const auto direction = first + line_->spacing() + second_->sizeHint().width() <= width() ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
  if (line_->direction() != direction) line_->setDirection(direction);
}

}  // namespace lanescope::ui
