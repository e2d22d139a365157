// The translations of one language, read from gettext's text format.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace lanescope {

// By the English text. Entries that have no translation or are marked as fuzzy are left out; contexts and plurals are not used. Requires: a file that msgfmt
// accepts. O(length).
[[nodiscard]] std::unordered_map<std::string, std::string> read_translations(std::string_view po);

[[nodiscard]] std::string_view chinese_translations() noexcept;  // simplified characters

}  // namespace lanescope
