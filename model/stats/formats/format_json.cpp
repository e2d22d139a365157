#include <array>
#include <cstdio>

#include "writers.h"

namespace lanescope::stats {
namespace {

// Bytes of the UTF-8 character at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80                      ? 1
                             : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                             : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                             : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                                 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool no_character = (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  return too_long || no_character ? 0 : length;
}

// Names come from programs as they are: bytes that are not UTF-8 become U+FFFD.
void append_string(std::string& json, std::string_view text) {
  json += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      json += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      json.append(1, '\\').append(1, c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      json += escape.data();
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  json += '"';
}

}  // namespace

void write_json(const Table& table, TimeUnit unit, TextInParts& parts) {
  std::string& text = parts.text;
  std::vector<std::string> keys;
  for (const Column& column : table.columns()) {
    std::string& key = keys.emplace_back();
    append_string(key, shown_title(column, unit));
    key += ": ";
  }
  text += '[';
  std::string cell;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    text += row == 0 ? "\n  {" : ",\n  {";
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Column& column = table.columns()[i];
      text.append(i == 0 ? "" : ", ").append(keys[i]);
      cell.clear();
      append_cell(cell, table, column, row, unit, Separators::kNone);
      if (is_text(column))
        append_string(text, cell);
      else
        text += cell.empty() ? "null" : cell;
    }
    text += '}';
    if (!parts.end_row()) return;
  }
  text += table.empty() ? "]\n" : "\n]\n";
}

}  // namespace lanescope::stats
