#include "painting/arrow.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

namespace lanescope::timeline {
namespace {

constexpr double kFarAway = 80;  // logical pixels outside of the window: where lines to distant events start
constexpr double kHead = 7;
constexpr double kShort = 40;  // between rows that are near each other

double near(double value, double low, double high) { return std::clamp(value, low - kFarAway, high + kFarAway); }

// Draws the label at the edge of the visible part, near the point where the line leaves it.
void draw_label(QPainter& painter, const ArrowEnd& end, const QRectF& visible, const Theme& theme) {
  if (end.label.isEmpty() || visible.contains(end.place)) return;
  QString text = end.label;
  if (end.place.y() < visible.top()) text = QChar(0x2191) + QStringLiteral(" ") + text;
  if (end.place.y() > visible.bottom()) text = QChar(0x2193) + QStringLiteral(" ") + text;
  if (end.place.x() < visible.left()) text = QChar(0x2190) + QStringLiteral(" ") + text;
  if (end.place.x() > visible.right()) text += QStringLiteral(" ") + QChar(0x2192);
  const QFontMetricsF metrics(painter.font());
  const QSizeF size(metrics.horizontalAdvance(text) + 10, metrics.height() + 2);
  QRectF box(end.place - QPointF(size.width() / 2, size.height() / 2), size);
  box.moveLeft(std::clamp(box.left(), visible.left() + 3, std::max(visible.left() + 3, visible.right() - size.width() - 3)));
  box.moveTop(std::clamp(box.top(), visible.top() + 3, std::max(visible.top() + 3, visible.bottom() - size.height() - 3)));
  painter.setPen(theme.accent);
  painter.setBrush(theme.panel);
  painter.drawRoundedRect(box, 3, 3);
  painter.setPen(theme.text);
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace

void draw_arrow(QPainter& painter, const ArrowEnd& from_end, const ArrowEnd& to_end, const QRectF& visible, const Theme& theme) {
  QPointF from = from_end.place, to = to_end.place;
  from.setX(near(from.x(), visible.left(), visible.right()));
  to.setX(near(to.x(), visible.left(), visible.right()));
  if (std::max(from.x(), to.x()) < visible.left() || std::min(from.x(), to.x()) > visible.right()) return;
  if (std::max(from.y(), to.y()) < visible.top() || std::min(from.y(), to.y()) > visible.bottom()) return;
  const double right = std::abs(to.x() - from.x()), down = std::abs(to.y() - from.y());
  const bool is_straight = right < kHead / 2 && down > kHead && down < kShort;  // a bend would be wider than the arrow is long
  QPainterPath path(from);
  if (is_straight) {
    path.lineTo(to);
  } else {
    const double bend = std::max(18.0, right * 0.35);
    path.cubicTo(from.x() + bend, from.y(), to.x() - bend, to.y(), to.x(), to.y());
  }
  painter.setPen(QPen(theme.accent, 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.accent);
  painter.drawEllipse(from, 2.5, 2.5);
  const double back = to.y() > from.y() ? -kHead : kHead;
  const QPointF head[] = {to, to + (is_straight ? QPointF(-kHead * 0.55, back) : QPointF(-kHead, -kHead * 0.55)),
                          to + (is_straight ? QPointF(kHead * 0.55, back) : QPointF(-kHead, kHead * 0.55))};
  painter.drawPolygon(head, 3);
  draw_label(painter, {from, from_end.label}, visible, theme);
  draw_label(painter, {to, to_end.label}, visible, theme);
}

}  // namespace lanescope::timeline
