#include "model/events/event_text.h"

#include "model/trace/utf8.h"

namespace lanescope {
namespace {

constexpr std::size_t kPieceBytes = 1u << 16;

void append_value(std::string& out, std::string_view value, Delimiter delimiter) {
  if (delimiter == Delimiter::kTab) {
    append_printable(out, value, LineBreaks::kEscaped);
    return;
  }
  const std::string shown = printable(value, LineBreaks::kKept);
  if (shown.find_first_of(",\"\n") == std::string::npos) {
    out.append(shown);
    return;
  }
  out.push_back('"');
  for (const char c : shown) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

}  // namespace

bool write_events(const EventValues& values, std::span<const EventRef> events, std::span<const EventColumn> columns, Delimiter delimiter,
                  const TextSink& write) {
  const std::string_view line_end = delimiter == Delimiter::kComma ? "\r\n" : "\n";
  std::string piece;
  const auto append_line = [&](auto&& value_of) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) piece.push_back(static_cast<char>(delimiter));
      append_value(piece, value_of(columns[i]), delimiter);
    }
    piece.append(line_end);
  };
  append_line([](EventColumn column) { return event_column_header(column); });
  for (const EventRef event : events) {
    append_line([&](EventColumn column) { return values.text(event, column); });
    if (piece.size() < kPieceBytes) continue;
    if (!write(piece)) return false;
    piece.clear();
  }
  return write(piece);
}

}  // namespace lanescope
