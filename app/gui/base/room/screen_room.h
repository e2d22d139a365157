// Where windows fit.
#pragma once

#include <QWidget>

namespace lanescope::ui {

// Logical pixels that a window may have of its screen, without its frame. Before that is shown, nobody knows its frame: as much is left as window
// managers take at most. Larger than any screen where there is none.
[[nodiscard]] QSize room_on_screen(const QWidget& window);

// Logical pixels in which a title bar shows the window's whole title, with the name of the program behind it and the buttons of window managers.
[[nodiscard]] int title_width(const QWidget& window);

}  // namespace lanescope::ui
