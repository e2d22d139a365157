// Stores how users arranged the content of panels between runs: widths of columns, borders between the parts of a panel. Only parts with an object name are
// stored.
#pragma once

#include <QWidget>

#include "base/state/settings.h"

namespace lanescope::ui {

void restore_panels(const QWidget& window, const Settings& settings);
void keep_panels(const QWidget& window, Settings& settings);

}  // namespace lanescope::ui
