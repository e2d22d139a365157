#include "window/look/glyphs.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace lanescope::ui {
namespace {

constexpr int kSize = 16;  // px
constexpr int kScale = 3;  // drawn larger to stay sharp on dense screens
const QColor kRecordColor(0xd6, 0x45, 0x3d);

void draw(QPainter& painter, Glyph glyph, const QColor& color) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(glyph == Glyph::kRecord && color.alpha() == 255 ? kRecordColor : color);
  const QPen stroke(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  switch (glyph) {
    case Glyph::kRecord:
      painter.drawEllipse(QRectF(3, 3, 10, 10));
      break;
    case Glyph::kAttach:  // a plug
      painter.drawRoundedRect(QRectF(4, 6.5, 8, 4), 1, 1);
      painter.setPen(stroke);
      painter.drawLine(QPointF(6, 3), QPointF(6, 6));
      painter.drawLine(QPointF(10, 3), QPointF(10, 6));
      painter.drawLine(QPointF(8, 11), QPointF(8, 14));
      break;
    case Glyph::kStop:
      painter.drawRoundedRect(QRectF(3.5, 3.5, 9, 9), 1, 1);
      break;
    case Glyph::kBack:
    case Glyph::kForward: {
      if (glyph == Glyph::kForward) {
        painter.translate(kSize, 0);
        painter.scale(-1, 1);
      }
      painter.setPen(stroke);
      painter.setBrush(Qt::NoBrush);
      painter.drawPolyline(QPolygonF({{9.5, 3.5}, {5, 8}, {9.5, 12.5}}));
      break;
    }
    case Glyph::kFit:
      painter.setPen(stroke);
      painter.setBrush(Qt::NoBrush);
      painter.drawLine(QPointF(2.5, 3), QPointF(2.5, 13));
      painter.drawLine(QPointF(13.5, 3), QPointF(13.5, 13));
      painter.drawLine(QPointF(5, 8), QPointF(11, 8));
      painter.drawPolyline(QPolygonF({{7, 6}, {5, 8}, {7, 10}}));
      painter.drawPolyline(QPolygonF({{9, 6}, {11, 8}, {9, 10}}));
      break;
    case Glyph::kLoop: {
      constexpr int kDegree = 16;  // Qt's unit of angles
      painter.setPen(stroke);
      painter.setBrush(Qt::NoBrush);
      painter.drawArc(QRectF(3, 3, 10, 10), 60 * kDegree, -300 * kDegree);
      painter.drawPolyline(QPolygonF({{10.2, 0.9}, {10.6, 3.7}, {7.8, 4.2}}));
      break;
    }
  }
}

QPixmap pixmap(Glyph glyph, const QColor& color) {
  QPixmap picture(kSize * kScale, kSize * kScale);
  picture.setDevicePixelRatio(kScale);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setRenderHint(QPainter::Antialiasing);
  draw(painter, glyph, color);
  return picture;
}

}  // namespace

QIcon glyph_icon(Glyph glyph, const QPalette& palette) {
  QIcon icon(pixmap(glyph, palette.color(QPalette::ButtonText)));
  QColor faint = palette.color(QPalette::Disabled, QPalette::ButtonText);
  faint.setAlpha(120);
  icon.addPixmap(pixmap(glyph, faint), QIcon::Disabled);
  return icon;
}

}  // namespace lanescope::ui
