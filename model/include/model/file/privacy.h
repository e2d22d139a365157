// Who may read what is made of a recording.
#pragma once

#include <filesystem>
#include <span>

#include "model/file/new_file.h"

namespace lanescope {

// What is made of these files has no permission for group and others that one of them lacks. A file that can't be looked at does not count.
[[nodiscard]] Readers readers_of(std::span<const std::filesystem::path> sources) noexcept;

}  // namespace lanescope
