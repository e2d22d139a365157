// The whole trace in one strip, with a frame around the visible window: GPUs above, calls of the CPU below. A click or drag moves the window.
#pragma once

#include <QImage>
#include <QTimer>
#include <QWidget>

#include "painting/row_painter.h"
#include "view/view_state.h"

namespace lanescope::timeline {

class Minimap : public QWidget {
  Q_OBJECT

 public:
  Minimap(ViewState& state, QWidget* parent);

  // True if it shows less of the trace than is there now; the rest is drawn soon.
  [[nodiscard]] bool isBehind() const { return growth_.isActive(); }

 signals:
  void contextMenuRequested(lanescope::Nanoseconds time, const QPoint& global_position);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  void followTrace();
  void paintTrace(double ratio);  // device pixels per logical pixel
  void paintLoops(QPainter& painter, double frame_left, double frame_right) const;
  void paintName(QPainter& painter, QPointF at, double width, const QString& name) const;
  [[nodiscard]] Viewport viewport() const;
  void centreAt(double x);

  ViewState& state_;
  RowPainter painter_;
  QImage trace_;
  TimeRange painted_;  // the range that the image shows
  bool trace_is_current_ = false;
  QTimer growth_;  // runs while the recording has grown and the image has not
};

}  // namespace lanescope::timeline
