// The time axis above the canvas: ticks, the selected range with its duration, markers, the time under the cursor.
#pragma once

#include <QWidget>

#include "view_state.h"

class QPainter;

namespace lanescope::timeline {

class RulerBar : public QWidget {
  Q_OBJECT

 public:
  RulerBar(ViewState& state, QWidget* parent);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] Viewport viewport() const;
  void paint_ticks(QPainter& painter);
  void paint_selected_range(QPainter& painter);
  void paint_flag(QPainter& painter, double x, const QString& text, const QColor& color);

  ViewState& state_;
  Nanoseconds range_anchor_ = 0;
};

}  // namespace lanescope::timeline
