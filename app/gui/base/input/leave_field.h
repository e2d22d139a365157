// Fields that filter or search, left by the keyboard.
#pragma once

#include <functional>

#include <QLineEdit>

namespace lanescope::ui {

// Esc empties the field and goes on with `then`, which gives the keyboard to what the field was about.
void leave_with_escape(QLineEdit& field, std::function<void()> then);

}  // namespace lanescope::ui
