// Writes events as lines of delimited text.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "model/events/event_values.h"
#include "model/file/progress.h"

namespace lanescope {

enum class Delimiter : char { kComma = ',', kTab = '\t' };

// Writes a header line and one line per event: times, durations and sizes as plain numbers in the unit that the header names. Comma-separated values are quoted
// as in RFC 4180, and lines end in CRLF. In tab-separated values, which are for pasting into spreadsheets, tabs and line ends within a value become spaces.
// `write` takes the text piece by piece and returns true to go on; the result is true if everything was written. The progress is in events.
using TextSink = std::function<bool(std::string_view)>;
// Columns that come after the others, and that no events table has.
struct FurtherColumn {
  std::string_view header;
  std::function<std::string(EventRef)> text;
};
[[nodiscard]] bool write_events(const EventValues& values, std::span<const EventRef> events, std::span<const EventColumn> columns, Delimiter delimiter,
                                const TextSink& write, std::span<const FurtherColumn> further = {}, const Progress& progress = {});

}  // namespace lanescope
