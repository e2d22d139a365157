// Names come from programs, which put any bytes into them.
#include "model/trace/utf8.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("what a terminal would take for a command is shown as text") {
  const auto shown = [](std::string_view text) { return printable(text, LineBreaks::kEscaped); };
  CHECK(shown("plain, \xc3\xa9 \xf0\x9f\x98\x80 \\u001b") == "plain, \xc3\xa9 \xf0\x9f\x98\x80 \\u001b");
  CHECK(shown("\x1b]0;title\x07") == "\\u001b]0;title\\u0007");
  CHECK(shown("\xc2\x9b"
              "31m\x7f") == "\\u009b31m\\u007f");  // the same commands in one character of Unicode
  CHECK(shown("\xc2\xa0") == "\xc2\xa0");          // the first behind them
  CHECK(shown("\x9b"
              "31m") ==
        "\xef\xbf\xbd"
        "31m");  // and in one byte, which is not UTF-8
  CHECK(shown("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(printable("a\nb\tc\rd", LineBreaks::kKept) == "a\nb\tc\\rd");
  CHECK(shown(std::string_view("a\0b", 3)) == "a\\u0000b");
  CHECK(shown("").empty());
}

TEST_CASE("no byte that controls a terminal is left of any text of two characters") {
  for (unsigned first = 0; first < 256; ++first)
    for (unsigned second = 0; second < 256; ++second) {
      const std::string text{static_cast<char>(first), static_cast<char>(second)};
      const std::string shown = printable(text, LineBreaks::kEscaped);
      for (std::size_t i = 0; i < shown.size(); ++i) {
        const auto byte = static_cast<unsigned char>(shown[i]);
        const bool alone = byte >= 0x80 && byte < 0xa0 && static_cast<unsigned char>(shown[i - 1]) < 0x80;
        const bool of_c1 = byte >= 0x80 && byte < 0xa0 && i == 1 && static_cast<unsigned char>(shown[0]) == 0xc2;
        if (byte < 0x20 || byte == 0x7f || alone || of_c1) FAIL(first << ", " << second);
      }
    }
}
