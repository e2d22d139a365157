// Which widgets use typed text, and which keys lists leave to the window.
#pragma once

#include <QKeyEvent>
#include <QWidget>

namespace lanescope::ui {

// True for fields. Lists are not searched by typing.
[[nodiscard]] bool takes_typing(const QWidget& widget);
// True for keys that type a character, and for Backspace: they are commands of the timeline, also while a list has the focus. Not for those with which lists
// select, and open and close lines.
[[nodiscard]] bool is_left_by_lists(const QKeyEvent& event);

}  // namespace lanescope::ui
