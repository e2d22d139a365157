// How long a view keeps what it shows of an earlier choice before it says that it is still at work on the present one. What comes sooner replaces it silently.
#pragma once

#include <chrono>

namespace lanescope::ui {

inline constexpr std::chrono::milliseconds kPatience{250};

}  // namespace lanescope::ui
