// How much room there is for windows.
#pragma once

#include <QWidget>

namespace lanescope::ui {

// Logical pixels that a window may have of its screen, without its frame. The size of the frame is not known before the window is shown, so the largest frame
// of common window managers is subtracted. Without a screen: larger than any screen.
[[nodiscard]] QSize room_on_screen(const QWidget& window);

// Logical pixels that a title bar needs for the whole title of the window, the name of the program behind it and the buttons of the window manager.
[[nodiscard]] int title_width(const QWidget& window);

}  // namespace lanescope::ui
