// Text that may not be what it should: names come from programs, which put any bytes into them.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// The text with every byte that is not part of a UTF-8 sequence replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace lanescope
