// Converts paths of Qt to paths of the system.
#pragma once

#include <filesystem>

#include <QString>

namespace lanescope::ui {

// The file that a path of Qt stands for. Names on disk are bytes; Qt replaces bytes that are not text with a replacement character. Such a name is searched in
// its folder, and is found if only one file there has this name in Qt.
[[nodiscard]] std::filesystem::path file_path(const QString& path);

}  // namespace lanescope::ui
