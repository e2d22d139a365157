// What gestures mean, apart from the widgets that receive them.
#pragma once

#include "model/trace/types.h"
#include "timeline/widget/timeline_view.h"

class QWheelEvent;

namespace lanescope::timeline {

// A menu bar becomes active when Alt is released, unless the mouse did something meanwhile that it knows; a wheel is nothing of that. Tells
// it, where the wheel was turned with Alt.
void keep_menu_bar_closed(const QWheelEvent& event);

struct WheelStep {
  double zoom = 1;    // > 1 zooms in
  double pan = 0;     // logical pixels to the right
  double scroll = 0;  // logical pixels by which the rows move down
};

// A wheel zooms, or scrolls, as `alone` says; with Ctrl it zooms, with Shift it pans, with Alt it scrolls. Two fingers on a trackpad move what is seen with
// them, pixel by pixel, in both directions; with Ctrl they zoom.
[[nodiscard]] WheelStep wheel_step(const QWheelEvent& event, WheelUse alone = WheelUse::kZoom);

// Logical pixels by which a wheel or trackpad over the names of rows moves them down.
[[nodiscard]] double scrolled_rows(const QWheelEvent& event);

// The event with room for what is around it.
[[nodiscard]] TimeRange range_around(const Event& event);

}  // namespace lanescope::timeline
