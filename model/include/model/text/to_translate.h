// Marks words in data, such as the cells of a table, as texts that are translated when they are shown.
#pragma once

#include <string_view>

namespace lanescope {

[[nodiscard]] constexpr std::string_view to_translate(std::string_view english) noexcept { return english; }

}  // namespace lanescope
