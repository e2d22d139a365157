// The wheel changes a box of choices or a number only where somebody is in it: elsewhere it scrolls what lies around, as it does over all else.
#pragma once

namespace lanescope::ui {

// From here on, in all windows of the program; once is enough. Requires: a QApplication.
void keep_wheel_to_focus();

}  // namespace lanescope::ui
