// The time axis above the canvas: ticks, the selected range with its duration, markers, the time under the cursor.
#pragma once

#include <QWidget>

#include "view/view_state.h"

class QPainter;

namespace lanescope::timeline {

inline constexpr double kTickSpacing = 110;  // logical pixels between labelled ticks, here and on the canvas

class RulerBar : public QWidget {
  Q_OBJECT

 public:
  RulerBar(ViewState& state, QWidget* parent);
  // The base of labels that begin with "+"; empty if they are absolute.
  [[nodiscard]] QString base() const;

 signals:
  void contextMenuRequested(lanescope::Nanoseconds time, const QPoint& global_position);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] Viewport viewport() const;
  // A line with a text beside it.
  struct Flag {
    double x = 0;
    QString text;
    QRectF box;  // of the text; empty if there is none
  };
  [[nodiscard]] Flag flagAt(double x, const QString& text) const;
  [[nodiscard]] std::vector<Flag> markerFlags() const;
  [[nodiscard]] std::optional<Flag> cursorFlag() const;
  [[nodiscard]] QRectF rangeLabel() const;  // if a range is selected
  [[nodiscard]] QString rangeText() const;
  void paintTicks(QPainter& painter, const std::vector<QRectF>& covered);
  void paintSelectedRange(QPainter& painter);
  void paintFlag(QPainter& painter, const Flag& flag, const QColor& color) const;

  ViewState& state_;
  Nanoseconds range_anchor_ = 0;
};

}  // namespace lanescope::timeline
