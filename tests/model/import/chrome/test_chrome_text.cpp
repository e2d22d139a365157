#include <cmath>
#include <random>

#include "chrome/chrome_event.h"
#include "chrome_file.h"
#include "model/trace/text/utf8.h"

using namespace lanescope;
using namespace lanescope::importers;

TEST_CASE("microseconds become nanoseconds exactly") {
  CHECK(nanoseconds_of_microseconds("12") == 12'000);
  CHECK(nanoseconds_of_microseconds("0.001") == 1);
  CHECK(nanoseconds_of_microseconds("-0.5") == -500);
  CHECK(nanoseconds_of_microseconds("1712195495501688.497") == 1'712'195'495'501'688'497);  // a double would give ...500 or ...250
  CHECK(nanoseconds_of_microseconds("4458676416431.397") == 4'458'676'416'431'397);
  CHECK(nanoseconds_of_microseconds("1.5e3") == 1'500'000);
  CHECK(nanoseconds_of_microseconds("1712195495501688497E-3") == 1'712'195'495'501'688'497);
  CHECK(nanoseconds_of_microseconds("0") == 0);
  CHECK(nanoseconds_of_microseconds("0e99999999") == 0);
}

TEST_CASE("what is finer than a nanosecond is rounded to the nearest") {
  CHECK(nanoseconds_of_microseconds("0.0004") == 0);
  CHECK(nanoseconds_of_microseconds("0.0005") == 1);
  CHECK(nanoseconds_of_microseconds("1.23456789") == 1'235);
  CHECK(nanoseconds_of_microseconds("1.2344999999999999999999999999") == 1'234);
  CHECK(nanoseconds_of_microseconds("1e-30") == 0);
}

TEST_CASE("what is no time, or out of range, is none") {
  for (const char* text :
       {"", "-", ".", "x", "12x", "NaN", "null", "true", "1e", "1e+", "--1", "1.2.3", "1e999", "99999999999999999999999", "2305843009213694"})
    CHECK_FALSE(nanoseconds_of_microseconds(text).has_value());
}

TEST_CASE("every microsecond with three decimals is read as it was written") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto nanoseconds = static_cast<Nanoseconds>(random() % (std::uint64_t{1} << (1 + i % 61)));
    std::string text = std::to_string(nanoseconds / 1000) + "." + std::to_string(1000 + nanoseconds % 1000).substr(1);
    REQUIRE(nanoseconds_of_microseconds(text) == nanoseconds);
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
  CHECK(valid_utf8("plain \xc3\xa9 \xf0\x9f\x98\x80") == "plain \xc3\xa9 \xf0\x9f\x98\x80");
  CHECK(valid_utf8("a\xff"
                   "b") ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(valid_utf8("\xc3") == "\xef\xbf\xbd");                                  // truncated
  CHECK(valid_utf8("\xc0\xaf") == "\xef\xbf\xbd\xef\xbf\xbd");                  // overlong
  CHECK(valid_utf8("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  CHECK(valid_utf8("\xf4\x90\x80\x80").size() == 12);                           // beyond U+10FFFF
}

TEST_CASE("a value ends where its brackets close, whatever strings say and wherever the text is cut") {
  const std::string text = R"({"a":"}]\"{[\\","b":[{"c":[]},"]"],"d":{"e":1}})";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    ValueScan scan;
    const std::string rest = text + ",{\"next\":1}";
    const char* position = rest.data();
    bool complete = scan.advance(position, rest.data() + cut);
    CHECK(complete == (cut == text.size()));
    if (!complete) complete = scan.advance(position, rest.data() + rest.size());
    CHECK(complete);
    CHECK(position == rest.data() + text.size());
  }
}
