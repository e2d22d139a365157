// Lines from what launched to what was launched.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QString>

#include "painting/theme.h"

class QPainter;

namespace lanescope::timeline {

struct ArrowEnd {
  QPointF place;
  QString label;  // what is there, for where it is out of sight
};

// From `from` to the right, then to `to`. Where an end lies outside of what is visible, the line leaves it, and says at the edge what it
// leads to. Nothing is drawn where both ends lie beyond the same edge.
void draw_arrow(QPainter& painter, const ArrowEnd& from, const ArrowEnd& to, const QRectF& visible, const Theme& theme);

}  // namespace lanescope::timeline
