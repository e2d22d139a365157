#include "input/gestures.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QMouseEvent>
#include <QPointingDevice>
#include <QWheelEvent>

#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {
namespace {

constexpr double kNotch = 120;  // Qt's angle of one notch of a wheel, in eighths of a degree
constexpr double kZoomPerNotch = 1.25;
constexpr double kPanPerNotch = 90;     // logical pixels
constexpr double kScrollPerNotch = 60;  // logical pixels

bool is_trackpad(const QWheelEvent& event) {
  const QPointingDevice* device = event.pointingDevice();
  const bool says_so = device != nullptr && device->type() == QInputDevice::DeviceType::TouchPad;
  return says_so || (event.phase() != Qt::NoScrollPhase && event.hasPixelDelta());
}

// The distance that the fingers moved, in logical pixels. X11 reports only angles.
QPointF moved(const QWheelEvent& event) {
  if (event.hasPixelDelta()) return event.pixelDelta();
  return QPointF(event.angleDelta()) / kNotch * kPanPerNotch;
}

}  // namespace

void keep_menu_bar_closed(const QWheelEvent& event) {
  if (!(event.modifiers() & Qt::AltModifier)) return;
  QObject nobody;  // menu bars see every event of the program
  QMouseEvent moved(QEvent::MouseMove, event.position(), event.globalPosition(), Qt::NoButton, Qt::NoButton, event.modifiers());
  QCoreApplication::sendEvent(&nobody, &moved);
}

WheelStep wheel_step(const QWheelEvent& event, WheelUse alone) {
  const QPoint angle = event.angleDelta();
  const double notches = angle.y() / kNotch;
  const Qt::KeyboardModifiers modifiers = event.modifiers();
  if (modifiers & Qt::ControlModifier) return {.zoom = std::pow(kZoomPerNotch, notches)};
  if (modifiers & Qt::ShiftModifier)  // some platforms swap the axes themselves
    return {.pan = -(angle.y() != 0 ? angle.y() : angle.x()) / kNotch * kPanPerNotch};
  if (modifiers & Qt::AltModifier)  // Qt swaps the axes itself
    return {.scroll = (angle.y() != 0 ? angle.y() : angle.x()) / kNotch * kScrollPerNotch};
  if (is_trackpad(event)) return {.pan = -moved(event).x(), .scroll = moved(event).y()};
  if (std::abs(angle.x()) > std::abs(angle.y())) return {.pan = -angle.x() / kNotch * kPanPerNotch};
  if (alone == WheelUse::kScroll) return {.scroll = notches * kScrollPerNotch};
  return {.zoom = std::pow(kZoomPerNotch, notches)};
}

double scrolled_rows(const QWheelEvent& event) { return is_trackpad(event) ? moved(event).y() : event.angleDelta().y() / kNotch * kScrollPerNotch; }

TimeRange range_around(const Event& event) {
  constexpr double kRoom = 0.75;  // of the event's duration, on each side
  return padded({event.start, std::max(event.end(), event.start + kShortestRange)}, kRoom);
}

}  // namespace lanescope::timeline
