// Shares and changes as people read them, in the same form everywhere: a number, a space, the sign. Pure functions.
#pragma once

#include <string>

namespace lanescope {

// "43.1 %", with no decimals "43 %". Takes 43.1, not 0.431.
[[nodiscard]] std::string format_percent(double percent, int decimals = 1);
// With two significant digits, and at most two decimals: "100 %", "43 %", "4.3 %", "0.04 %".
[[nodiscard]] std::string format_small_percent(double percent);
// "+5.0 %", "-0.3 %".
[[nodiscard]] std::string format_change(double percent);

}  // namespace lanescope
