#include "base/room/elided_label.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

namespace lanescope::ui {

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) { setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); }

bool ElidedLabel::isCut() const { return fontMetrics().horizontalAdvance(text()) > contentsRect().width(); }

// A cut text cannot be selected in part, but the whole text can be copied.
void ElidedLabel::paintEvent(QPaintEvent* event) {
  if (!isCut()) return QLabel::paintEvent(event);
  QPainter painter(this);
  const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width());
  style()->drawItemText(&painter, contentsRect(), Qt::AlignVCenter | Qt::AlignLeft, palette(), isEnabled(), shown, foregroundRole());
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !isCut()) return QLabel::event(event);
  QString tip = "<p style='white-space:pre-wrap'>" + text().toHtmlEscaped();
  if (!toolTip().isEmpty() && toolTip() != text()) tip += "<br>" + toolTip().toHtmlEscaped();
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), tip + "</p>", this);
  return true;
}

}  // namespace lanescope::ui
