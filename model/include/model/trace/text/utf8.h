// Text that may be invalid: names come from programs, which put any bytes into them.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// The text with every byte that is not part of a UTF-8 sequence replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The front of a text, which never ends within a character. Bytes that are not UTF-8 count like the characters around them. O(n).
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t most) noexcept;
[[nodiscard]] std::string_view first_bytes(std::string_view text, std::size_t most) noexcept;

enum class LineBreaks {
  kEscaped,  // also \n, \r and \t
  kKept,     // line feeds and tabs are kept
};
// Appends the text so that a terminal shows it and does nothing else. Control characters (C0, DEL, C1), which could move the cursor, set titles or
// answer in place of the user, become \u001b, as in JSON; \r becomes "\r", and so do \n and \t if `breaks` says so. Bytes that are not UTF-8 become
// U+FFFD. O(n).
void append_printable(std::string& to, std::string_view text, LineBreaks breaks);
[[nodiscard]] std::string printable(std::string_view text, LineBreaks breaks);

}  // namespace lanescope
