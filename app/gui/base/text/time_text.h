// Reads times as people type them.
#pragma once

#include <optional>

#include <QString>

#include "model/trace/types.h"

namespace lanescope::ui {

// "12.3ms", "1 s", "500us", "250 µs", "42": a number with an optional unit of s, ms, us or ns; without one it is ns. None for anything
// else.
[[nodiscard]] std::optional<Nanoseconds> parse_time(const QString& text);

// "1ms:2.5ms". None where a side is missing or the end is not after the beginning.
[[nodiscard]] std::optional<TimeRange> parse_range(const QString& text);

}  // namespace lanescope::ui
