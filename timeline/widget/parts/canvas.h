// The rows with their events, and the gestures on them. The rows are painted into an image when what they show changes; hovering and
// selecting only paint over it.
#pragma once

#include <optional>
#include <vector>

#include <QAccessible>
#include <QImage>
#include <QPoint>
#include <QRegion>
#include <QWidget>

#include "painting/arrow.h"
#include "painting/row_painter.h"
#include "view/view_state.h"

class QNativeGestureEvent;
class QPainter;

namespace lanescope::timeline {

class Canvas : public QWidget {
  Q_OBJECT

 public:
  Canvas(ViewState& state, QWidget* parent);
  // The edge of an event that is nearest to the cursor, else the time under it; none while it is elsewhere.
  [[nodiscard]] std::optional<Nanoseconds> edge_at_cursor();
  [[nodiscard]] ViewState& state() const { return state_; }
  // Where a row shows an event, in logical pixels; empty where it does not.
  [[nodiscard]] QRect rectangle_of(const std::string& row_key, RowPlace place, EventRef event) const;

 signals:
  void eventActivated(lanescope::EventRef event);
  void contextMenuRequested(lanescope::EventRef event, lanescope::timeline::RowIndex row, const QPoint& global_position);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  enum class EventEdge { kBegin, kEnd };
  enum class Drag { kNone, kPressed, kRange, kPan };
  struct Hit {
    const PlacedRow* row = nullptr;
    const Level* level = nullptr;
    PixelHit pixel;
    std::optional<CounterId> counter;   // that the row shows
    TimeRange time;                     // of the pixel
    std::optional<Gap> gap;             // where no event is near
    std::optional<Event> call;          // of a stack chart: the event of the pixel is its first sample
    const AnswerRow* answer = nullptr;  // that the row shows; the pixel is of its ranges
  };

  bool pinch(const QNativeGestureEvent& gesture);
  void announce(QAccessible::Event what);  // to assistive technology, where there is any
  void announce_focus();
  void repaint_rows();
  [[nodiscard]] Viewport device_viewport() const;  // of pixels of the screen
  [[nodiscard]] Viewport device_viewport(double ratio) const;
  [[nodiscard]] Viewport viewport() const;  // of logical pixels
  [[nodiscard]] Hit hit(QPointF position);
  // What is nearest to x: some pixels are left to a shaking hand.
  [[nodiscard]] PixelHit aimed_at(const LevelContent& content, std::int32_t x) const;
  // The range of time that was hit, where that is no event: a gap, a call that was sampled, a range of an answer.
  [[nodiscard]] static std::optional<TimeRange> range_of(const Hit& hit);
  [[nodiscard]] static EventRef event_of(const Hit& hit);
  [[nodiscard]] Nanoseconds snapped_time(QPointF position);
  [[nodiscard]] QString tool_tip(const Hit& hit);
  [[nodiscard]] QRectF event_rectangle(const PlacedRow& row, std::size_t level, EventRef event) const;
  [[nodiscard]] std::optional<ArrowEnd> anchor(EventRef event, EventEdge edge) const;

  void paint_selected_range(QPainter& painter) const;
  void paint_selected_gap(QPainter& painter) const;
  [[nodiscard]] QString why_nothing() const;  // is shown
  void paint_markers(QPainter& painter) const;
  void hover_changed();
  // What is painted of the cursor: its line, and outlines of the event below it.
  [[nodiscard]] QRegion hover_region() const;
  [[nodiscard]] std::vector<QRectF> outlines_of(EventRef event) const;  // on rows in sight
  void paint_outline(QPainter& painter, EventRef event, const QColor& color, double width) const;
  void paint_arrows(QPainter& painter) const;
  void paint_path(QPainter& painter) const;

  ViewState& state_;
  RowPainter painter_;
  QImage rows_;
  bool rows_are_current_ = false;
  QRegion painted_hover_;
  Drag drag_ = Drag::kNone;
  QPointF press_;
  QPointF last_;
  Nanoseconds range_anchor_ = 0;
};

}  // namespace lanescope::timeline
