// The time axis above the canvas: ticks, the selected range with its duration, markers, the time under the cursor.
#pragma once

#include <QWidget>

#include "view_state.h"

class QPainter;

namespace lanescope::timeline {

inline constexpr double kTickSpacing = 110;  // logical pixels between labelled ticks, here and on the canvas

class RulerBar : public QWidget {
  Q_OBJECT

 public:
  RulerBar(ViewState& state, QWidget* parent);
  // What labels that begin with "+" add to; empty where they are absolute.
  [[nodiscard]] QString base() const;

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
