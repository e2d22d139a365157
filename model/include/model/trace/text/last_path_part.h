// The name of a file without its folders.
#pragma once

#include <string_view>

namespace lanescope {

// "train.py" of "/home/user/train.py"; "" where the path ends with a slash.
[[nodiscard]] constexpr std::string_view last_path_part(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

}  // namespace lanescope
