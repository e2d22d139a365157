#include "arrow.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QPainterPath>

namespace lanescope::timeline {
namespace {

constexpr double kFarAway = 80;  // logical pixels outside of the window: where lines to events far off begin
constexpr double kHead = 7;

double near(double value, double low, double high) { return std::clamp(value, low - kFarAway, high + kFarAway); }

}  // namespace

void draw_arrow(QPainter& painter, QPointF from, QPointF to, const QRectF& visible, const QColor& color) {
  from.setX(near(from.x(), visible.left(), visible.right()));
  to.setX(near(to.x(), visible.left(), visible.right()));
  if (std::max(from.x(), to.x()) < visible.left() || std::min(from.x(), to.x()) > visible.right()) return;
  const double bend = std::max(18.0, std::abs(to.x() - from.x()) * 0.35);
  QPainterPath path(from);
  path.cubicTo(from.x() + bend, from.y(), to.x() - bend, to.y(), to.x(), to.y());
  painter.setPen(QPen(color, 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(from, 2.5, 2.5);
  const QPointF head[] = {to, to + QPointF(-kHead, -kHead * 0.55), to + QPointF(-kHead, kHead * 0.55)};
  painter.drawPolygon(head, 3);
}

}  // namespace lanescope::timeline
