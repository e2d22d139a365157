// Numbers as people read them, in the same form everywhere: with a comma between groups of three digits. Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace lanescope {

// "1,204,331".
[[nodiscard]] std::string grouped_digits(std::uint64_t number);
// Groups the digits in front of the point of a decimal number. The number, with its sign, is the text from `first` on: "-1204331.5" becomes
// "-1,204,331.5".
void group_digits(std::string& text, std::size_t first = 0);

}  // namespace lanescope
