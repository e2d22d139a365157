// Which widgets use typed text: fields, and lists in which typing finds the entry that starts with it.
#pragma once

#include <QKeyEvent>
#include <QWidget>

namespace lanescope::ui {

[[nodiscard]] bool takes_typing(const QWidget& widget);
// True if the key types a character and is not a command: no Shift, Ctrl, Alt or other modifier is held. So Shift+Z is a command in lists, too, and a capital
// letter finds no entry there. Not for fields, which decide themselves.
[[nodiscard]] bool is_typed(const QKeyEvent& event);

}  // namespace lanescope::ui
