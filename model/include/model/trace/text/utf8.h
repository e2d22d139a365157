// Text that may not be what it should: names come from programs, which put any bytes into them.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// The text with every byte that is not part of a UTF-8 sequence replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The front of a text, never to within a character. Bytes that are not UTF-8 count as the characters around them do. O(n).
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t most) noexcept;
[[nodiscard]] std::string_view first_bytes(std::string_view text, std::size_t most) noexcept;

enum class LineBreaks {
  kEscaped,  // \n, \r and \t, too
  kKept,     // line feeds and tabs stay
};
// Appends the text so that a terminal shows it and does nothing else: control characters (C0, DEL, C1), which may move the cursor, set
// titles or answer for the user, become \u001b, as in JSON; \r, and as is asked \n and \t, these. What is not UTF-8 becomes U+FFFD. O(n).
void append_printable(std::string& to, std::string_view text, LineBreaks breaks);
[[nodiscard]] std::string printable(std::string_view text, LineBreaks breaks);

}  // namespace lanescope
