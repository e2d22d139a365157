// The look of all charts of the viewer: flat, in the colours of the palette, with small text.
#pragma once

#include <QChartView>

namespace lanescope::ui {

void apply_chart_look(QChartView& view);

// Removes axes and series. Reverses all addAxis and addSeries.
void clear_chart(QChart& chart);

}  // namespace lanescope::ui
