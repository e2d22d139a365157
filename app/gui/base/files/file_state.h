// Finds out whether the content of a file has changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <QByteArray>

namespace lanescope::ui {

struct FileState {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  // inode number on the device
  std::int64_t bytes = 0;
  std::int64_t last_write = 0;  // ns
  QByteArray mark;              // a hash of the content; of a large file, of its start and its end
};

// Returns nothing if there is no such file. Reads about 100 KB of it.
[[nodiscard]] std::optional<FileState> state_of(const std::filesystem::path& file);

enum class FileChange { kNone, kContent };
// The change of a file since it was as in `known`. If a file was copied or touched but has the same content, the result is kNone and `known` becomes its
// present state. A missing file counts as unchanged.
[[nodiscard]] FileChange find_change(const std::filesystem::path& file, FileState& known);

}  // namespace lanescope::ui
