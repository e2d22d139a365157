// What is said of a file that was open before, to tell it from others of its name.
#pragma once

#include <QFontMetrics>
#include <QString>

namespace lanescope::ui {

struct RecentFileText {
  QString name;
  QString folder;  // with ~ for the user's own; both are shortened in their middle where they are long
  QString facts;   // "3 h ago, 12.3 MiB"; "the file is gone"
};
[[nodiscard]] RecentFileText recent_file_text(const QString& path, const QFontMetrics& metrics);

}  // namespace lanescope::ui
