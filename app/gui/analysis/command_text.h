// The command line that answers the same as a panel: what its user takes into scripts.
#pragma once

#include <QString>
#include <QStringList>

namespace lanescope::ui {

// Words as a shell takes them, quoted where needed.
[[nodiscard]] QString command_text(const QStringList& words);

}  // namespace lanescope::ui
