// Whether a file is as it was: the same one, of the same length, and not written to since.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lanescope::ui {

struct FileState {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  // of the file on its device
  std::int64_t bytes = 0;
  std::int64_t last_write = 0;  // ns
  bool operator==(const FileState&) const = default;
};

// None where there is no such file.
[[nodiscard]] std::optional<FileState> state_of(const std::filesystem::path& file);

}  // namespace lanescope::ui
