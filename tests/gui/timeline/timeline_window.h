// A timeline of a small recording, offscreen, with real mouse, wheel and key events.
#pragma once

#include <cmath>
#include <memory>

#include <QApplication>
#include <QImage>
#include <QMouseEvent>
#include <QTest>
#include <QWheelEvent>

#include "../../timeline/traces.h"
#include "support/catch.h"
#include "timeline/core/view/viewport.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::test {

using timeline::TimelineView;
using timeline::Viewport;

inline constexpr int kPatienceMs = 60'000;  // for work that takes a moment on an idle machine

inline void start_application() {
  if (QApplication::instance() != nullptr) return;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  static int count = 1;
  static char name[] = "test";
  static char* arguments[] = {name, nullptr};
  new QApplication(count, arguments);  // lives as long as the process
  // With subpixel rendering, the edges of letters would have colours of their own.
  QFont font = QApplication::font();
  font.setStyleStrategy(QFont::NoSubpixelAntialias);
  QApplication::setFont(font);
}

// 1 ms of one launch and its kernel, a copy, and ranges, with a long idle gap from 300 to 700 µs.
struct Recording : SmallTrace {
  Recording() {
    builder.add(on_gpu(TrackKind::kKernels), {event(100'000, 300'000, "gemm", 1), event(700'000, 900'000, "gemm", 2), event(920'000, 1'000'000, "relu", 3)});
    builder.add(on_thread(TrackKind::kCudaApi), {event(0, 50'000, "cudaLaunchKernel", 1), event(60'000, 90'000, "cudaLaunchKernel", 2),
                                                 event(400'000, 420'000, "cudaLaunchKernel", 3), event(450'000, 990'000, "cudaDeviceSynchronize", 4)});
    const std::vector<Event> ranges{event(0, 1'000'000, "epoch"), event(10'000, 500'000, "forward")};
    const std::vector<std::uint32_t> depths{0, 1};
    builder.add(on_thread(TrackKind::kNvtxRanges), ranges, depths);
  }
};

// True if something was written in the colour here. Thin letters are mixed with the background, so that not a single pixel may have the pure colour.
inline bool is_written_in(const QColor& color, const QColor& behind, const QColor& pixel) {
  const auto along = [&](double from, double to, double at) { return (at - from) * (to - from); };
  const auto sum = [&](auto part) { return part(&QColor::red) + part(&QColor::green) + part(&QColor::blue); };
  const double length = sum([&](auto channel) { return along((behind.*channel)(), (color.*channel)(), (color.*channel)()); });
  const double share = sum([&](auto channel) { return along((behind.*channel)(), (color.*channel)(), (pixel.*channel)()); }) / length;
  const double aside = sum([&](auto channel) {
    const double mixed = (behind.*channel)() + share * ((color.*channel)() - (behind.*channel)());
    return ((pixel.*channel)() - mixed) * ((pixel.*channel)() - mixed);
  });
  return share > 0.5 && share < 1.1 && aside < 0.02 * length;
}

class Window {
 public:
  Window() {
    start_application();
    view = std::make_unique<TimelineView>();
    view->resize(1'000, 600);
    view->setTrace(recording.builder.snapshot());
    view->show();
    canvas = view->findChild<QWidget*>({}, Qt::FindDirectChildrenOnly);
    for (QWidget* child : view->findChildren<QWidget*>()) {
      if (child->accessibleName() == "Timeline rows") canvas = child;
      if (child->accessibleName() == "Row names") header = child;
    }
  }

  [[nodiscard]] Viewport viewport() const { return {view->visibleRange(), canvas->width()}; }
  [[nodiscard]] LaneId lane(TrackKind kind) const {
    for (const Track& track : view->trace()->tracks())
      if (track.key.kind == kind) return track.lanes.front();
    return kNone;
  }

  void mouse(QWidget* widget, QEvent::Type type, QPointF at, Qt::MouseButton button, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const {
    const Qt::MouseButtons held = type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::MouseButtons(button);
    QMouseEvent event(type, at, widget->mapToGlobal(at), type == QEvent::MouseMove ? Qt::NoButton : button, held, modifiers);
    QApplication::sendEvent(widget, &event);
  }
  void move(QPointF at) const { mouse(canvas, QEvent::MouseMove, at, Qt::NoButton); }
  void click(QPointF at) const {
    mouse(canvas, QEvent::MouseButtonPress, at, Qt::LeftButton);
    mouse(canvas, QEvent::MouseButtonRelease, at, Qt::LeftButton);
  }
  void drag(QPointF from, QPointF to, Qt::MouseButton button) const {
    mouse(canvas, QEvent::MouseButtonPress, from, button);
    for (int step = 1; step <= 4; ++step) mouse(canvas, QEvent::MouseMove, from + (to - from) * step / 4.0, button);
    mouse(canvas, QEvent::MouseButtonRelease, to, button);
  }
  void wheel(QWidget* widget, QPointF at, int angle, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const {
    QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, angle}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(widget, &event);
  }
  void key(int code, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const { QTest::keyClick(view.get(), static_cast<Qt::Key>(code), modifiers); }

  // The canvas as it is drawn, and its colour at a point in logical pixels.
  [[nodiscard]] QImage picture() const { return canvas->grab().toImage(); }
  [[nodiscard]] static QColor color_at(const QImage& picture, QPointF place) { return QColor(picture.pixel((place * picture.devicePixelRatio()).toPoint())); }

  // The position of an event on the screen, found with the cursor, as a user would.
  [[nodiscard]] QPointF position_of(EventRef wanted) const {
    const Event event = view->trace()->event(wanted);
    const double x = std::floor(viewport().x_at(event.start + event.duration / 2));
    for (double y = 0; y < canvas->height(); y += 3) {
      move({x, y});
      if (view->hoveredEvent() == wanted) return {x, y + 3};
    }
    FAIL("the event is not on the screen");
    return {};
  }
  [[nodiscard]] QPointF empty_place() const { return {viewport().x_at(500'000), 24 + 12}; }  // on CUDA HW in the gap

  Recording recording;
  std::unique_ptr<TimelineView> view;
  QWidget* canvas = nullptr;
  QWidget* header = nullptr;
};

}  // namespace lanescope::test
