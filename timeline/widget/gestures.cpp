#include "gestures.h"

#include <algorithm>
#include <cmath>

#include <QWheelEvent>

#include "timeline/core/viewport.h"

namespace lanescope::timeline {
namespace {

constexpr double kNotch = 120;  // Qt's angle of one notch of a wheel, in eighths of a degree
constexpr double kZoomPerNotch = 1.25;
constexpr double kPanPerNotch = 90;  // logical pixels

}  // namespace

WheelStep wheel_step(const QWheelEvent& event) {
  const QPoint angle = event.angleDelta();
  WheelStep step;
  if (event.modifiers() & Qt::ShiftModifier) {  // some platforms turn the axis themselves
    step.pan = -(angle.y() != 0 ? angle.y() : angle.x()) / kNotch * kPanPerNotch;
    return step;
  }
  if (std::abs(angle.x()) > std::abs(angle.y())) {
    step.pan = -angle.x() / kNotch * kPanPerNotch;
    return step;
  }
  step.zoom = std::pow(kZoomPerNotch, angle.y() / kNotch);
  return step;
}

TimeRange range_around(const Event& event) {
  constexpr double kRoom = 0.75;  // of the event's duration, on each side
  return padded({event.start, std::max(event.end(), event.start + kShortestRange)}, kRoom);
}

}  // namespace lanescope::timeline
