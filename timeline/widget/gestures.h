// What gestures mean, apart from the widgets that receive them.
#pragma once

#include "model/trace/types.h"

class QWheelEvent;

namespace lanescope::timeline {

struct WheelStep {
  double zoom = 1;  // > 1 zooms in
  double pan = 0;   // logical pixels to the right
};

// Wheel and Ctrl+wheel zoom; Shift+wheel, and sideways on a trackpad, pan.
[[nodiscard]] WheelStep wheel_step(const QWheelEvent& event);

// The event with room for what is around it.
[[nodiscard]] TimeRange range_around(const Event& event);

}  // namespace lanescope::timeline
