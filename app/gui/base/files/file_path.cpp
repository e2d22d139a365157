#include "base/files/file_path.h"

#include <optional>
#include <system_error>

#include <QFile>

namespace lanescope::ui {
namespace {

std::optional<std::filesystem::path> only_one_called(const QString& name, const std::filesystem::path& folder) {
  std::optional<std::filesystem::path> found;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, unreadable), end; !unreadable && entry != end; entry.increment(unreadable)) {
    const std::filesystem::path file = entry->path().filename();
    if (QFile::decodeName(file.c_str()) != name) continue;
    if (found) return std::nullopt;
    found = file;
  }
  return found;
}

}  // namespace

std::filesystem::path file_path(const QString& path) {
  const std::filesystem::path plain(QFile::encodeName(path).toStdString());
  if (!path.contains(QChar::ReplacementCharacter)) return plain;
  std::filesystem::path found;
  for (const std::filesystem::path& part : plain) {
    std::error_code unreadable;
    const QString name = QFile::decodeName(part.c_str());
    const bool is_as_named = !name.contains(QChar::ReplacementCharacter) || std::filesystem::exists(std::filesystem::symlink_status(found / part, unreadable));
    found /= is_as_named ? part : only_one_called(name, found).value_or(part);
  }
  return found;
}

}  // namespace lanescope::ui
