// Names come from programs, which may put any bytes into them.
#include "model/trace/text/utf8.h"

#include <algorithm>
#include <iterator>

#include "support/catch.h"

using namespace lanescope;

TEST_CASE("what a terminal would take for a command is shown as text") {
  const auto shown = [](std::string_view text) { return printable(text, LineBreaks::kEscaped); };
  CHECK(shown("plain, \xc3\xa9 \xf0\x9f\x98\x80 \\u001b") == "plain, \xc3\xa9 \xf0\x9f\x98\x80 \\u001b");
  CHECK(shown("\x1b]0;title\x07") == "\\u001b]0;title\\u0007");
  CHECK(shown("a\xe2\x80\xae"
              "b\xe2\x81\xa9 \xe2\x80\x93 \xe2\x82\xac") == "a\\u202eb\\u2069 \xe2\x80\x93 \xe2\x82\xac");  // they turn what follows; a dash and a euro do not
  CHECK(shown("\xc2\x9b"
              "31m\x7f") == "\\u009b31m\\u007f");  // the same commands as one character of Unicode
  CHECK(shown("\xc2\xa0") == "\xc2\xa0");          // the first character after them
  CHECK(shown("\x9b"
              "31m") ==
        "\xef\xbf\xbd"
        "31m");  // the commands as one byte, which is not UTF-8
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

TEST_CASE("a text is cut between characters, wherever that is") {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";  // of 1, 2, 3, 4 and 1 bytes
  const std::size_t ends[] = {0, 1, 3, 6, 10, 11};
  for (std::size_t characters = 0; characters < 10; ++characters)
    CHECK(first_characters(text, characters).size() == ends[std::min<std::size_t>(characters, 5)]);
  for (std::size_t bytes = 0; bytes < 20; ++bytes) {
    const std::string_view front = first_bytes(text, bytes);
    CHECK(front.size() == *(std::upper_bound(std::begin(ends), std::end(ends), bytes) - 1));
    CHECK(valid_utf8(front) == front);
  }
  CHECK(first_bytes("\x80\x80\x80", 2).empty());  // no character starts there
  CHECK(first_characters("\x80\x80", 0).size() == 2);
}
