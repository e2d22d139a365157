// Durations as people read them, in the same form everywhere. Pure functions.
#pragma once

#include <string>

#include "model/trace/types.h"

namespace lanescope {

// "834 ns", "12.345 µs", "4.500 s"; from an hour on with its parts: "1 h 2 min 3.500 s", "2 d 6 h". Parts that are zero are left out.
[[nodiscard]] std::string format_duration(Nanoseconds duration);
// With three significant digits: "2.35 s", "12.3 ms"; from an hour on its two largest parts: "1 h 2 min", "2 d 6 h".
[[nodiscard]] std::string format_short_duration(Nanoseconds duration);
// Whole days, hours, minutes and seconds: "2 d 6 h", "1 h 30 min". Empty if there are none. Requires: not negative.
[[nodiscard]] std::string format_whole_seconds(Nanoseconds duration);

}  // namespace lanescope
