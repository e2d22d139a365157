// What users arranged within panels, from one run to the next: widths that they gave to columns, borders between the parts of a panel.
// Only parts with an object name are remembered.
#pragma once

#include <QWidget>

#include "base/state/settings.h"

namespace lanescope::ui {

void restore_panels(const QWidget& window, const Settings& settings);
void keep_panels(const QWidget& window, Settings& settings);

}  // namespace lanescope::ui
