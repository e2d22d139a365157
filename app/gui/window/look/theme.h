// The colours of the whole program: those of the desktop, light, or dark.
#pragma once

#include "base/state/settings.h"

namespace lanescope::ui {

// May be called at any time, also repeatedly. Requires a QApplication.
void apply_theme(Theme theme);

}  // namespace lanescope::ui
