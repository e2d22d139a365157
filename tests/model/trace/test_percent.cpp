#include "model/trace/percent.h"
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
