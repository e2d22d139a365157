// Paints the rows of counters: for each pixel column a band from the minimum to the maximum, and a line at the mean.
#pragma once

#include <QImage>
#include <QPainter>

#include "timeline/core/pixels/counter_pixels.h"
#include "view/view_state.h"

namespace lanescope::timeline {

// Paints into [top, top + height) device pixels, with a label for the top of the scale. Paints nothing if the height is too small. Returns whether it is exact.
CounterSeries::Detail paint_counter(ViewState& state, QPainter& painter, CounterId id, const Viewport& viewport, QImage& image, int top, int height);

}  // namespace lanescope::timeline
