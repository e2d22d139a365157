// Paints the rows of counters: for each column of pixels a band from the least to the most that it holds, and a line at the mean.
#pragma once

#include <QImage>
#include <QPainter>

#include "timeline/core/pixels/counter_pixels.h"
#include "view/view_state.h"

namespace lanescope::timeline {

// Into [top, top + height) device pixels, with what the top of the scale means. Narrower than that, nothing.
void paint_counter(const ViewState& state, QPainter& painter, CounterId id, const Viewport& viewport, QImage& image, int top, int height);

}  // namespace lanescope::timeline
