#include "model/trace/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lanescope {
namespace {

bool begins_character(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Bytes of the UTF-8 sequence at the front of `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool too_large = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

// The control character that the sequence encodes, or the one that turns the direction of what follows (U+202A to U+202E, U+2066 to U+2069), by which a name
// could show as another one; 0 if it is none (and for NUL, see append_printable).
unsigned control_character(std::string_view sequence) noexcept {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7f ? first : 0;
  const auto second = static_cast<unsigned char>(sequence[1]);
  if (sequence.size() == 2) return first == 0xc2 && second < 0xa0 ? second : 0;
  if (sequence.size() != 3 || first != 0xe2 || (second != 0x80 && second != 0x81)) return 0;
  const unsigned character = 0x2000u + (second - 0x80u) * 64u + (static_cast<unsigned char>(sequence[2]) & 0x3fu);
  const bool turns_direction = (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
  return turns_direction ? character : 0;
}

void append_escaped(std::string& to, unsigned character, LineBreaks breaks) {
  const bool kept = breaks == LineBreaks::kKept && (character == '\n' || character == '\t');
  if (kept) {
    to += static_cast<char>(character);
  } else if (character == '\n' || character == '\t' || character == '\r') {
    to.append(character == '\n' ? "\\n" : character == '\t' ? "\\t" : "\\r");
  } else {
    std::array<char, 8> escape;
    std::snprintf(escape.data(), escape.size(), "\\u%04x", character);
    to += escape.data();
  }
}

// Bytes at the front of the text that a terminal shows as they are. Works block by block, which compilers can vectorize, because names may be long.
std::size_t plain_length(std::string_view text) noexcept {
  const auto is_special = [](char c) {
    return static_cast<unsigned char>(c < 0x20) | static_cast<unsigned char>(c == 0x7f);
  };  // bytes beyond ASCII are below 0
  constexpr std::size_t kBlock = 64;
  std::size_t length = 0;
  for (; text.size() - length >= kBlock; length += kBlock) {
    int special = 0;
    for (std::size_t i = 0; i < kBlock; ++i) special |= is_special(text[length + i]);
    if (special != 0) break;
  }
  while (length < text.size() && is_special(text[length]) == 0) ++length;
  return length;
}

}  // namespace

void append_printable(std::string& to, std::string_view text, LineBreaks breaks) {
  while (!text.empty()) {
    const std::size_t plain = plain_length(text);
    to.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::size_t length = sequence_length(text);
    const unsigned control = length == 0 ? 0 : control_character(text.substr(0, length));
    if (length == 0)
      to += "\xef\xbf\xbd";
    else if (control != 0 || text.front() == '\0')
      append_escaped(to, control, breaks);
    else
      to += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
}

std::string printable(std::string_view text, LineBreaks breaks) {
  std::string shown;
  append_printable(shown, text, breaks);
  return shown;
}

std::string_view first_characters(std::string_view text, std::size_t most) noexcept {
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end)
    if (begins_character(text[end]) && ++count > most) break;
  return text.substr(0, end);
}

std::string_view first_bytes(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && !begins_character(text[end])) --end;
  return text.substr(0, end);
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0)
      valid += "\xef\xbf\xbd";
    else
      valid += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return valid;
}

}  // namespace lanescope
