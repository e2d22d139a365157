// Colours and measures of the timeline, derived from the application's palette and font: light and dark follow from it. What is written
// has a contrast of 4.5 at least with what it is written on, where the palette's own text has a good one.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

#include "timeline/core/pixels/colors.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::timeline {

struct Theme {
  ColorScheme scheme = ColorScheme::kLight;
  QColor background;  // of rows: where nothing happens
  QColor group;       // of rows that only group others
  QColor panel;       // headers, ruler, minimap
  QColor separator;
  QColor grid;
  QColor current;  // behind the name of the row that keys are about
  QColor text;
  QColor quiet_text;
  QColor accent;  // selection, correlation
  QColor range;   // selected range, translucent: beside it something else must be in sight
  QColor marker;
  RowMetrics rows;

  static Theme from(const QPalette& palette, const QFont& font);
};

}  // namespace lanescope::timeline
