// The name of a file without its folders.
#pragma once

#include <string_view>

namespace lanescope {

// Returns "train.py" for "/home/user/train.py"; "" if the path ends with a slash.
[[nodiscard]] constexpr std::string_view last_path_part(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

}  // namespace lanescope
