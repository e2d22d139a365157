#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("a share has two digits that count, whatever its size, and no power of ten") {
  CHECK(format_small_percent(0) == "0.00 %");
  CHECK(format_small_percent(0.04) == "0.04 %");
  CHECK(format_small_percent(0.994) == "0.99 %");
  CHECK(format_small_percent(0.996) == "1.0 %");
  CHECK(format_small_percent(3) == "3.0 %");
  CHECK(format_small_percent(9.94) == "9.9 %");
  CHECK(format_small_percent(9.96) == "10 %");
  CHECK(format_small_percent(99.6) == "100 %");
  CHECK(format_small_percent(100) == "100 %");
}

TEST_CASE("digits stand in groups of three in front of the point") {
  CHECK(grouped_digits(0) == "0");
  CHECK(grouped_digits(999) == "999");
  CHECK(grouped_digits(1'000) == "1,000");
  CHECK(grouped_digits(1'234'567) == "1,234,567");
  CHECK(grouped_digits(18'446'744'073'709'551'615u) == "18,446,744,073,709,551,615");
  const auto grouped = [](std::string text, std::size_t first = 0) {
    group_digits(text, first);
    return text;
  };
  CHECK(grouped("-123") == "-123");
  CHECK(grouped("-1234567.8901") == "-1,234,567.8901");
  CHECK(grouped("1000 1000", 5) == "1000 1,000");  // the text before it is left alone
  CHECK(grouped("").empty());
}
