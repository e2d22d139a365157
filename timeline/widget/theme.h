// Colours and measures of the timeline, derived from the application's palette and font: light and dark follow from it.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

#include "timeline/core/colors.h"
#include "timeline/core/row_layout.h"

namespace lanescope::timeline {

struct Theme {
  ColorScheme scheme = ColorScheme::kLight;
  QColor background;  // of rows: where nothing happens
  QColor group;       // of rows that only group others
  QColor panel;       // headers, ruler, minimap
  QColor separator;
  QColor grid;
  QColor text;
  QColor quiet_text;
  QColor accent;  // selection, correlation
  QColor range;   // selected range, translucent
  QColor marker;
  RowMetrics rows;

  static Theme from(const QPalette& palette, const QFont& font);
};

}  // namespace lanescope::timeline
