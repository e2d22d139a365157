// Who may read files that are made from a recording.
#pragma once

#include <filesystem>
#include <span>

#include "model/file/new_file.h"

namespace lanescope {

// A file made from these sources has no permission for group and others that one of the sources lacks. A source that can't be examined does not count.
[[nodiscard]] Readers readers_of(std::span<const std::filesystem::path> sources) noexcept;

}  // namespace lanescope
