// The command line that gives the same answer as a panel, for use in scripts.
#pragma once

#include <QString>
#include <QStringList>

namespace lanescope::ui {

// The words as a command for a shell, quoted where needed.
[[nodiscard]] QString command_text(const QStringList& words);

}  // namespace lanescope::ui
