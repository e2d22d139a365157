// Colours and measures of the timeline, derived from the application's palette and font, which also decide between light and dark. Text has a contrast of at
// least 4.5 to its background if the palette's own text has a good one.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

#include "timeline/core/pixels/colors.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::timeline {

struct Theme {
  ColorScheme scheme = ColorScheme::kLight;
  QColor background;  // of rows without events
  QColor group;       // of rows that only group others
  QColor panel;       // headers, ruler, minimap
  QColor separator;
  QColor grid;
  QColor current;  // the background of the name of the row that keys act on
  QColor text;
  QColor quiet_text;
  QColor accent;  // selection, correlation
  QColor range;   // selected range; translucent, and never the only mark of it
  QColor marker;
  RowMetrics rows;

  static Theme from(const QPalette& palette, const QFont& font);
};

}  // namespace lanescope::timeline
