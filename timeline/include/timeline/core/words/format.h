// The format of times, sizes and rates everywhere in the program. Pure functions; ASCII except for the micro sign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/text/message.h"
#include "model/trace/types.h"

namespace lanescope::timeline {

// "834 ns", "12.345 µs", "1.230 ms", "4.500 s"; from an hour on its parts: "2 d 6 h 3.500 s" (model/trace/text/duration.h).
[[nodiscard]] std::string format_duration(Nanoseconds duration);
// A point in time with as many decimals of a second as `resolution` (ns) requires to distinguish neighbours: "1.234567 s"; from an hour on its parts, as of
// durations: "1 h 31 min 28.5 s"; from a minute on where the resolution is 100 ms or more, as a ruler has them.
[[nodiscard]] std::string format_time(Nanoseconds time, Nanoseconds resolution = 1);
// Reads a time that a person typed: "12.3ms", "1 s", "500us", "1 h 30 min", "42": numbers with units; ns without one. Nothing for other texts.
[[nodiscard]] std::optional<Nanoseconds> parse_time(std::string_view text);
// "512 B", "1.50 KiB", "64.00 MiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
// Bytes within a duration: "12.34 GB/s" (powers of ten, as usual for bandwidths). "" if the duration is 0.
[[nodiscard]] std::string format_throughput(std::uint64_t bytes, Nanoseconds duration);
// "1 234 567": groups of three.
[[nodiscard]] std::string format_count(std::uint64_t count);
// "1 event", "12 034 events".
[[nodiscard]] Message format_counted(std::uint64_t count, std::string_view noun);
// "43.1 %" for 0.431; "<0.1 %" for small shares above 0.
[[nodiscard]] std::string format_share(double share);

}  // namespace lanescope::timeline
