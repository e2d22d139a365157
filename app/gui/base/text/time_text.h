// Reads times that people type.
#pragma once

#include <optional>

#include <QString>

#include "model/trace/types.h"

namespace lanescope::ui {

// "12.3ms", "1 s", "500us", "250 µs", "42": a number with an optional unit of s, ms, us or ns; without a unit it is ns. Returns nothing for other texts.
[[nodiscard]] std::optional<Nanoseconds> parse_time(const QString& text);

// "1ms:2.5ms". Returns nothing if a side is missing or the end is not after the start.
[[nodiscard]] std::optional<TimeRange> parse_range(const QString& text);

}  // namespace lanescope::ui
