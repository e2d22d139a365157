// The colours of the whole program: the desktop's, light, or dark.
#pragma once

#include "base/state/settings.h"

namespace lanescope::ui {

// May be called again at any time. Requires a QApplication.
void apply_theme(Theme theme);

}  // namespace lanescope::ui
