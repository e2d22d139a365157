// Writes events as lines of delimited text.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "model/events/event_values.h"

namespace lanescope {

enum class Delimiter : char { kComma = ',', kTab = '\t' };

// A header line and one line an event: times, durations and sizes as plain numbers in the unit that the header names. Comma-separated
// values are quoted as RFC 4180 says, lines end in CRLF; in tab-separated ones, which spreadsheets paste, tabs and line ends within a value
// become spaces. `write` takes the text piece by piece and returns whether to go on; the result says whether all was written.
using TextSink = std::function<bool(std::string_view)>;
// Columns that stand behind the others, and that no events table has.
struct FurtherColumn {
  std::string_view header;
  std::function<std::string(EventRef)> text;
};
[[nodiscard]] bool write_events(const EventValues& values, std::span<const EventRef> events, std::span<const EventColumn> columns, Delimiter delimiter,
                                const TextSink& write, std::span<const FurtherColumn> further = {});

}  // namespace lanescope
