// Paths as Qt has them, and as the system does.
#pragma once

#include <filesystem>

#include <QString>

namespace lanescope::ui {

// What a path of Qt stands for. A name on disk is bytes, and Qt has a replacement character for those that are no text: such a name is looked for in
// its folder, and is found where it is the only one that Qt calls so.
[[nodiscard]] std::filesystem::path file_path(const QString& path);

}  // namespace lanescope::ui
