// An entry of the recent files: what was opened in one step. A file or folder is its path; several files that are one trace, and two that are compared, are a
// text that no path is.
#pragma once

#include <QString>
#include <QStringList>

#include "session/session_machine.h"

namespace lanescope::ui {

// Requires: wish.kind is kOpen.
[[nodiscard]] QString entry_of(const Wish& wish);
[[nodiscard]] Wish wish_of(const QString& entry);
[[nodiscard]] QStringList paths_of(const QString& entry);

}  // namespace lanescope::ui
