// Lines from an event to the events that it launched.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QString>

#include "painting/theme.h"

class QPainter;

namespace lanescope::timeline {

struct ArrowEnd {
  QPointF place;
  QString label;  // of the end, shown if the end is out of sight
};

// Draws a line from `from` to the right, then to `to`. If an end lies outside of the visible part, the line leaves it, and a label at the edge names the end.
// Nothing is drawn if both ends lie beyond the same edge.
void draw_arrow(QPainter& painter, const ArrowEnd& from, const ArrowEnd& to, const QRectF& visible, const Theme& theme);

}  // namespace lanescope::timeline
