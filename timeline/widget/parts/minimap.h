// The whole trace in one strip, with the visible window framed: GPUs above, calls of the CPU below. Click or drag moves the window.
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

  // Whether it shows less of the trace than there is by now; the rest is drawn soon.
  [[nodiscard]] bool is_behind() const { return growth_.isActive(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  void trace_changed();
  void paint_trace(double ratio);  // device pixels a logical one
  void paint_loops(QPainter& painter, double frame_left, double frame_right) const;
  [[nodiscard]] Viewport viewport() const;
  void centre_at(double x);

  ViewState& state_;
  RowPainter painter_;
  QImage trace_;
  TimeRange painted_;  // what the image shows
  bool trace_is_current_ = false;
  QTimer growth_;  // runs while the recording has grown and the image has not
};

}  // namespace lanescope::timeline
