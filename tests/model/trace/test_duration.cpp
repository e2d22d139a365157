#include "model/trace/text/duration.h"

#include <limits>

#include "support/catch.h"

using namespace lanescope;

namespace {
constexpr Nanoseconds kMs = 1'000'000, kS = 1'000 * kMs, kMin = 60 * kS, kH = 60 * kMin, kD = 24 * kH;
}

TEST_CASE("durations are in one unit below an hour, and in days, hours, minutes and seconds from there on") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(-12'345) == "-12.345 µs");
  CHECK(format_duration(59 * kMin) == "3540.000 s");
  CHECK(format_duration(kH) == "1 h");
  CHECK(format_duration(kH + 2 * kMin + 3'500 * kMs) == "1 h 2 min 3.500 s");
  CHECK(format_duration(-(kD + 30 * kS)) == "-1 d 30.000 s");
  CHECK(format_duration(185 * kD + 6 * kH) == "185 d 6 h");
  CHECK(format_duration(2 * kH - 1) == "2 h");  // not 1 h 59 min 60.000 s
  CHECK(format_duration(std::numeric_limits<Nanoseconds>::min()) == "-106750 d 23 h 47 min 16.855 s");
}

TEST_CASE("short durations have three digits, or two parts") {
  CHECK(format_short_duration(417) == "417 ns");
  CHECK(format_short_duration(-2'346 * kMs) == "-2.35 s");
  CHECK(format_short_duration(99'960'000) == "100 ms");
  CHECK(format_short_duration(kH + 2 * kMin + 31 * kS) == "1 h 3 min");
  CHECK(format_short_duration(2 * kD + 6 * kH + 29 * kMin) == "2 d 6 h");
  CHECK(format_short_duration(kD - kS) == "1 d");
  CHECK(format_short_duration(kD + 10 * kMin) == "1 d");
}

TEST_CASE("whole seconds are split into what they are made of") {
  CHECK(format_whole_seconds(999 * kMs).empty());
  CHECK(format_whole_seconds(2 * kD + 6 * kH) == "2 d 6 h");
  CHECK(format_whole_seconds(kH + 30 * kMin + 5 * kS) == "1 h 30 min 5 s");
}
