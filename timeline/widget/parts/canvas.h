// The rows with their events, and the gestures on them. The rows are painted into an image when their content changes; hovering and selecting only paint over
// it.
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
  // The edge of an event nearest to the cursor, else the time under it; nothing while the cursor is elsewhere.
  [[nodiscard]] std::optional<Nanoseconds> edgeAtCursor();
  [[nodiscard]] ViewState& state() const { return state_; }
  // The rectangle of an event on a row, in logical pixels; empty if the row does not show it.
  [[nodiscard]] QRect rectangleOf(const std::string& row_key, RowPlace place, EventRef event) const;

 signals:
  void eventActivated(lanescope::EventRef event);
  void contextMenuRequested(lanescope::EventRef event, lanescope::timeline::RowIndex row, const QPoint& global_position);
  void gapContextMenuRequested(const lanescope::timeline::Gap& gap, lanescope::timeline::RowIndex row, const QPoint& global_position);

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
  enum class Drag { kNone, kPressed, kRange, kPan };
  struct Hit {
    const PlacedRow* row = nullptr;
    const Level* level = nullptr;
    PixelHit pixel;
    std::optional<CounterId> counter;   // the counter that the row shows
    TimeRange time;                     // of the pixel
    std::optional<Gap> gap;             // if no event is near
    std::optional<Event> call;          // of a stack chart; the event of the pixel is its first sample
    const AnswerRow* answer = nullptr;  // the answer that the row shows; the pixel refers to its ranges
  };

  bool pinch(const QNativeGestureEvent& gesture);
  void announce(QAccessible::Event what);  // to assistive technology, if it is active
  void announceFocus();
  void repaintRows();
  [[nodiscard]] Viewport deviceViewport() const;  // in device pixels
  [[nodiscard]] Viewport deviceViewport(double ratio) const;
  [[nodiscard]] Viewport viewport() const;  // in logical pixels
  [[nodiscard]] Hit hit(QPointF position);
  // The event nearest to x within a few pixels, because hands are not precise.
  [[nodiscard]] PixelHit aimedAt(const LevelContent& content, std::int32_t x) const;
  // The time range that was hit if it is not an event: a gap, a sampled call, a range of an answer.
  [[nodiscard]] static std::optional<TimeRange> rangeOf(const Hit& hit);
  [[nodiscard]] static EventRef eventOf(const Hit& hit);
  void selectInPlace(EventRef event);  // rows stay where they are
  [[nodiscard]] Nanoseconds snappedTime(QPointF position);
  [[nodiscard]] QString toolTipOf(const Hit& hit);
  [[nodiscard]] QRectF eventRectangle(const PlacedRow& row, std::size_t level, EventRef event) const;
  enum class ArrowLabel { kNo, kYes };
  [[nodiscard]] std::optional<ArrowEnd> anchor(EventRef event, Nanoseconds time, ArrowLabel label) const;

  void paintSelectedRange(QPainter& painter) const;
  void paintSelectedGap(QPainter& painter) const;
  [[nodiscard]] QString whyNothing() const;  // is shown
  void paintMarkers(QPainter& painter) const;
  void followHover();
  // The area that is painted for the cursor: its line, and outlines of the event below it.
  [[nodiscard]] QRegion hoverRegion() const;
  [[nodiscard]] std::vector<QRectF> outlinesOf(EventRef event) const;  // on rows in sight
  void paintOutline(QPainter& painter, EventRef event, const QColor& color, double width) const;
  void paintArrows(QPainter& painter) const;
  void paintPath(QPainter& painter) const;

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
