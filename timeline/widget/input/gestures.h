// The meaning of gestures, independent of the widgets that receive them.
#pragma once

#include "model/trace/types.h"
#include "timeline/widget/timeline_view.h"

class QWheelEvent;

namespace lanescope::timeline {

// A menu bar becomes active when Alt is released, unless it saw a mouse action meanwhile; turning the wheel does not count as one. This simulates a mouse
// action if the wheel is turned with Alt.
void keep_menu_bar_closed(const QWheelEvent& event);

struct WheelStep {
  double zoom = 1;    // > 1 zooms in
  double pan = 0;     // logical pixels to the right
  double scroll = 0;  // logical pixels by which the rows move down
};

// A wheel zooms or scrolls, depending on `alone`; with Ctrl it zooms, with Shift it pans, with Alt it scrolls. Two fingers on a trackpad move the view pixel by
// pixel in both directions; with Ctrl they zoom.
[[nodiscard]] WheelStep wheel_step(const QWheelEvent& event, WheelUse alone = WheelUse::kZoom);

// Logical pixels by which a wheel or trackpad over the row names moves them down.
[[nodiscard]] double scrolled_rows(const QWheelEvent& event);

// The time of the event with some room around it.
[[nodiscard]] TimeRange range_around(const Event& event);

}  // namespace lanescope::timeline
