// Leaves fields that filter or search by the keyboard.
#pragma once

#include <functional>

#include <QLineEdit>

namespace lanescope::ui {

// Esc empties the field and calls `then`, which gives the keyboard focus to what the field filters or searches.
void leave_with_escape(QLineEdit& field, std::function<void()> then);

}  // namespace lanescope::ui
