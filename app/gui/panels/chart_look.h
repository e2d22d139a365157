// How all charts of the viewer look: flat, in the palette's colours, small letters.
#pragma once

#include <QChartView>

namespace lanescope::ui {

void apply_chart_look(QChartView& view);

// Without axes and series. Ends what addAxis and addSeries began.
void clear_chart(QChart& chart);

}  // namespace lanescope::ui
