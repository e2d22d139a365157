// The line from a launching call to its work on the GPU.
#pragma once

#include <QColor>
#include <QPointF>
#include <QRectF>

class QPainter;

namespace lanescope::timeline {

// Where an end lies outside of `visible`, the line leaves towards it. Nothing is drawn where neither end nor line is in sight.
void draw_arrow(QPainter& painter, QPointF from, QPointF to, const QRectF& visible, const QColor& color);

}  // namespace lanescope::timeline
