// Where windows fit.
#pragma once

#include <QWidget>

namespace lanescope::ui {

// Logical pixels that a window may have of its screen, without its frame. Before that is shown, nobody knows its frame: as much is left as window
// managers take at most. Larger than any screen where there is none.
[[nodiscard]] QSize room_on_screen(const QWidget& window);

}  // namespace lanescope::ui
