#include "base/room/scrolled_label.h"

#include <algorithm>

#include <QEvent>

namespace lanescope::ui {

ScrolledLabel::ScrolledLabel(QLabel& label, QWidget* parent) : QScrollArea(parent), label_(label) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setWidgetResizable(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  label.setWordWrap(true);
  label.setMinimumWidth(1);  // else a long word would be cut
  setWidget(&label);
  label.setAutoFillBackground(false);
  viewport()->setAutoFillBackground(false);
  fit();
}

void ScrolledLabel::setMostHeight(int height) {
  most_height_ = height;
  fit();
}

void ScrolledLabel::fit() {
  const int line = label_.fontMetrics().lineSpacing();
  const int height = std::min(label_.heightForWidth(viewport()->width()), std::max(2, most_height_ / line) * line);
  if (height != this->height() || minimumHeight() != height) setFixedHeight(std::max(1, height));
}

void ScrolledLabel::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

bool ScrolledLabel::viewportEvent(QEvent* event) {
  const bool handled = QScrollArea::viewportEvent(event);
  if (event->type() == QEvent::LayoutRequest) fit();  // the label has another text
  return handled;
}

}  // namespace lanescope::ui
