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
  // What labels that begin with "+" add to; empty where they are absolute.
  [[nodiscard]] QString base() const;

 protected:
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
    QRectF box;  // of the text; empty without one
  };
  [[nodiscard]] Flag flag_at(double x, const QString& text) const;
  [[nodiscard]] std::vector<Flag> marker_flags() const;
  [[nodiscard]] std::optional<Flag> cursor_flag() const;
  [[nodiscard]] QRectF range_label() const;  // where a range is selected
  [[nodiscard]] QString range_text() const;
  void paint_ticks(QPainter& painter, const std::vector<QRectF>& covered);
  void paint_selected_range(QPainter& painter);
  void paint_flag(QPainter& painter, const Flag& flag, const QColor& color) const;

  ViewState& state_;
  Nanoseconds range_anchor_ = 0;
};

}  // namespace lanescope::timeline
