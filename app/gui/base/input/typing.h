// Who takes what is typed: a field, or a list in which it leads to the entry that begins so.
#pragma once

#include <QKeyEvent>
#include <QWidget>

namespace lanescope::ui {

[[nodiscard]] bool takes_typing(const QWidget& widget);
// Whether the key types something, rather than commands: no Shift, Ctrl, Alt or the like is held. So Shift+Z is a command in lists, too, and a capital letter
// leads to no entry there. Not for fields, which know it themselves.
[[nodiscard]] bool is_typed(const QKeyEvent& event);

}  // namespace lanescope::ui
