#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.h"
#include "timeline/core/pixels/ruler.h"
#include "timeline/core/view/view_history.h"
#include "timeline/core/view/viewport.h"
#include "timeline/core/words/format.h"

using namespace lanescope;
using namespace lanescope::timeline;

TEST_CASE("pixel columns share the range without gap or overlap") {
  const TimeRange range{1'234'567, 1'234'567 + GENERATE(values<Nanoseconds>({100, 997, 1'000'003, 9'000'000'000'000'000}))};
  const Viewport viewport{range, GENERATE(1, 7, 640, 3840)};
  REQUIRE(viewport.time_at(0) == range.begin);
  REQUIRE(viewport.time_at(viewport.width) == range.end);
  for (std::int64_t x = -3; x < viewport.width + 3; ++x) REQUIRE(viewport.time_at(x) <= viewport.time_at(x + 1));
}

TEST_CASE("a time lies in the column whose edges enclose it") {
  const Viewport viewport{{500, 100'500}, 640};
  for (Nanoseconds time = 500; time < 100'500; time += 111) {
    const auto x = static_cast<std::int64_t>(viewport.x_at(time));
    REQUIRE(viewport.time_at(x) <= time);
    REQUIRE(time <= viewport.time_at(x + 1));
  }
}

TEST_CASE("zooming keeps the time under the cursor in its place") {
  const Viewport before{{1'000'000, 9'000'000}, 1000};
  for (const std::int64_t cursor : {0, 250, 999}) {
    const Nanoseconds time = before.time_at(cursor);
    const Viewport after{zoomed(before.range, 4, time), 1000};
    REQUIRE(after.range.length() == 2'000'000);
    REQUIRE(after.x_at(time) == Approx(static_cast<double>(cursor)).margin(0.01));
  }
}

TEST_CASE("zooming in and out again restores the range") {
  const TimeRange range{1'000, 801'000};
  const TimeRange back = zoomed(zoomed(range, 8, 50'000), 1.0 / 8, 50'000);
  REQUIRE(back.begin == Approx(range.begin).margin(8));
  REQUIRE(back.end == Approx(range.end).margin(8));
}

TEST_CASE("ranges stay within the bounds and are never shorter than can be shown") {
  const TimeRange bounds{0, 1'000'000};
  REQUIRE(clamped({-500, 999'500}, bounds) == TimeRange{0, 1'000'000});
  REQUIRE(clamped({900'000, 1'100'000}, bounds) == TimeRange{800'000, 1'000'000});
  REQUIRE(clamped({-9'000'000, 9'000'000}, bounds) == bounds);
  REQUIRE(clamped({5'000, 5'001}, bounds).length() == kShortestRange);
}

TEST_CASE("ticks are steps of 1, 2 or 5 times a power of ten and far enough apart") {
  const Nanoseconds length = GENERATE(values<Nanoseconds>({100, 3'333, 70'000, 1'500'000, 999'999'999, 60'000'000'000}));
  const Viewport viewport{{0, length}, 1000};
  const Ruler ruler = make_ruler(viewport, 100);
  Nanoseconds digit = ruler.step;
  while (digit % 10 == 0) digit /= 10;
  REQUIRE((digit == 1 || digit == 2 || digit == 5));
  REQUIRE(static_cast<double>(ruler.step) >= viewport.step() * 100);
  REQUIRE(ruler.ticks.size() >= 3);
  for (const Tick& tick : ruler.ticks) REQUIRE(tick.time % ruler.step == 0);
}

TEST_CASE("ticks are written in the unit that reads best") {
  REQUIRE(make_ruler({{0, 10'000'000}, 1000}, 100).ticks[1].label == "1 ms");
  REQUIRE(make_ruler({{0, 2'000}, 1000}, 100).ticks[1].label == "0.2 µs");
  REQUIRE(make_ruler({{0, 20'000'000'000}, 1000}, 100).ticks[1].label == "2 s");
}

TEST_CASE("ticks deep in a trace count from a round time") {
  const Ruler ruler = make_ruler({{1'234'567'000, 1'234'569'000}, 1000}, 100);
  REQUIRE(ruler.base == "1.234 s");
  REQUIRE(ruler.ticks.front().label == "+567.0 µs");
  REQUIRE(ruler.ticks.front().time == 1'234'567'000);
}

// Labels count from the last round time, wherever it is: nobody would read "+1050 ms".
TEST_CASE("ticks count on from each round time that is in sight") {
  const auto labels = [](TimeRange range) {
    std::string all;
    for (const Tick& tick : make_ruler({range, 1000}, 100).ticks) all += tick.label + "|";
    return all;
  };
  REQUIRE(make_ruler({{8'700'000'000, 9'200'000'000}, 1000}, 100).base == "8 s");
  REQUIRE(labels({8'700'000'000, 9'200'000'000}) == "+700 ms|+750 ms|+800 ms|+850 ms|+900 ms|+950 ms|9 s|+50 ms|+100 ms|+150 ms|+200 ms|");
  REQUIRE(labels({1'233'998'000, 1'234'001'000}) == "+998.0 µs|+998.5 µs|+999.0 µs|+999.5 µs|1.234 s|+0.5 µs|+1.0 µs|");
  REQUIRE(labels({2'000'000'000, 2'400'000'000}).starts_with("2 s|+50 ms|"));
}

TEST_CASE("ticks of long recordings are minutes, hours and days") {
  constexpr Nanoseconds kSecond = 1'000'000'000, kHour = 3'600 * kSecond;
  const auto labels = [](TimeRange range) {
    std::string all;
    for (const Tick& tick : make_ruler({range, 1000}, 100).ticks) all += tick.label + "|";
    return all;
  };
  REQUIRE(labels({0, 200 * kSecond}) == "0 s|20 s|40 s|60 s|80 s|100 s|120 s|140 s|160 s|180 s|200 s|");
  REQUIRE(labels({0, 240 * kSecond}) == "0 min|30 s|1 min|1 min 30 s|2 min|2 min 30 s|3 min|3 min 30 s|4 min|");
  REQUIRE(labels({0, 5 * kHour}) == "0 min|30 min|1 h|1 h 30 min|2 h|2 h 30 min|3 h|3 h 30 min|4 h|4 h 30 min|5 h|");
  REQUIRE(labels({0, 72 * kHour}) == "0 min|12 h|1 d|1 d 12 h|2 d|2 d 12 h|3 d|");
  REQUIRE(labels({0, 24 * 15 * kHour}) == "0 min|2 d|4 d|6 d|8 d|10 d|12 d|14 d|");
  // Labels of three parts would be too long: they count from the day.
  REQUIRE(make_ruler({{46 * kHour, 50 * kHour}, 1000}, 100).base == "1 d");
  REQUIRE(labels({46 * kHour, 50 * kHour}) == "+22 h|+22 h 30 min|+23 h|+23 h 30 min|2 d|+30 min|+1 h|+1 h 30 min|+2 h|");
}

TEST_CASE("small ticks divide what lies between labelled ones") {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  for (Nanoseconds length = 1'000; length < 100'000'000 * kSecond; length += length / 3) {
    const Ruler ruler = make_ruler({{0, length}, 1000}, 100);
    CAPTURE(length, ruler.step, ruler.minor_step);
    REQUIRE(static_cast<double>(ruler.step) * 10 >= static_cast<double>(length));
    REQUIRE(ruler.step % ruler.minor_step == 0);
    REQUIRE(ruler.step / ruler.minor_step <= 6);
    REQUIRE(ruler.ticks.size() >= 3);
  }
}

TEST_CASE("the view history walks back and forward, and forgets what lay ahead") {
  using std::chrono::milliseconds;
  const ViewHistory::Clock::time_point start{};
  ViewHistory history({0, 1000});
  history.visit({0, 500}, start + milliseconds(1000));
  history.visit({0, 200}, start + milliseconds(2000));
  REQUIRE(history.back() == TimeRange{0, 500});
  REQUIRE(history.back() == TimeRange{0, 1000});
  REQUIRE_FALSE(history.can_go_back());
  REQUIRE(history.forward() == TimeRange{0, 500});
  history.visit({100, 150}, start + milliseconds(3000));
  REQUIRE_FALSE(history.can_go_forward());
  REQUIRE(history.back() == TimeRange{0, 500});
}

TEST_CASE("a flick of the wheel is one step of the history") {
  using std::chrono::milliseconds;
  const ViewHistory::Clock::time_point start{};
  ViewHistory history({0, 1000});
  for (int notch = 1; notch <= 5; ++notch) history.visit({0, 1000 - notch * 100}, start + milliseconds(5000 + notch * 50));
  REQUIRE(history.current() == TimeRange{0, 500});
  REQUIRE(history.back() == TimeRange{0, 1000});
}

TEST_CASE("times, sizes and rates read as people write them") {
  REQUIRE(format_duration(834) == "834 ns");
  REQUIRE(format_duration(12'345) == "12.345 µs");
  REQUIRE(format_duration(1'230'000) == "1.230 ms");
  REQUIRE(format_duration(4'500'000'000) == "4.500 s");
  REQUIRE(format_time(1'234'567'890, 1'000) == "1.234568 s");
  REQUIRE(format_time(3'599'999'999'999, 1) == "3599.999999999 s");
  // From an hour on as durations, and as they are typed.
  REQUIRE(format_time(5'488'500'000'000, 100'000'000) == "1 h 31 min 28.5 s");
  REQUIRE(format_time(5'488'500'000'001) == "1 h 31 min 28.500000001 s");
  REQUIRE(format_time(7'199'999'999'999, 1'000'000'000) == "2 h");
  REQUIRE(format_time(2'857'000'000'000, 1'000'000'000) == "47 min 37 s");  // beside a ruler in minutes
  REQUIRE(format_time(2'857'000'000'000, 1'000'000) == "2857.000 s");
  REQUIRE(format_time(59'000'000'000, 1'000'000'000) == "59 s");
  REQUIRE(format_time(-5'460'000'000'000) == "-1 h 31 min");
  REQUIRE(format_time(std::numeric_limits<Nanoseconds>::max()).starts_with("106751 d"));
  REQUIRE(format_time(std::numeric_limits<Nanoseconds>::min()).starts_with("-106751 d"));
  for (const Nanoseconds time : {Nanoseconds{3'600'000'000'000}, Nanoseconds{5'488'500'000'001}, Nanoseconds{-93'784'000'000'000}})
    REQUIRE(parse_time(format_time(time)) == time);
  REQUIRE(format_bytes(512) == "512 B");
  REQUIRE(format_bytes(64 << 20) == "64.00 MiB");
  REQUIRE(format_throughput(1'000'000'000, 1'000'000'000) == "1.00 GB/s");
  REQUIRE(format_throughput(1'000, 0).empty());
  REQUIRE(format_count(1'234'567) == "1,234,567");
  REQUIRE(format_counted(1, "event").english() == "1 event");
  REQUIRE(format_counted(12'034, "event").english() == "12,034 events");
  REQUIRE(format_share(0.873) == "87.3 %");
  REQUIRE(format_share(0.0005) == "0.1 %");
  REQUIRE(format_share(0.0004) == "<0.1 %");  // small, but not zero
  REQUIRE(format_share(0) == "0.0 %");
}

TEST_CASE("times are read as people type them") {
  REQUIRE(parse_time("12.3ms") == 12'300'000);
  REQUIRE(parse_time(" 1 s ") == 1'000'000'000);
  REQUIRE(parse_time("500us") == 500'000);
  REQUIRE(parse_time("250 µs") == 250'000);
  REQUIRE(parse_time("-42") == -42);
  REQUIRE(parse_time("1 h 30 min") == 5'400'000'000'000);
  REQUIRE(parse_time("-1h2min3.5s") == -3'723'500'000'000);
  for (const Nanoseconds shown : {Nanoseconds{834}, Nanoseconds{-4'500'000'000}, Nanoseconds{194'580'250'000'000}, Nanoseconds{86'400'000'000'000}})
    REQUIRE(parse_time(format_duration(shown)) == shown);
  for (const char* wrong : {"", "ms", "12 x", "1e3", "99999999999 s", "1 2", "1 s 5", "1 s 2 h", "1 h -2 s", "1 min 2 min"}) REQUIRE_FALSE(parse_time(wrong));
}

TEST_CASE("on the grid, views of one length divide time in the same way, half a pixel from where they were at most") {
  const Nanoseconds length = GENERATE(values<Nanoseconds>({9'973, 1'000'003, 77'000'000'011}));
  const std::int32_t width = GENERATE(7, 640, 1'917);
  const auto edges = [&](Nanoseconds begin) {
    const Viewport moved = Viewport{{begin, begin + length}, width}.on_grid();
    REQUIRE(moved.range.length() == length);
    REQUIRE(std::abs(static_cast<double>(moved.range.begin - begin)) <= moved.step() / 2 + 1);
    REQUIRE(moved.time_at(width) == moved.range.end);
    REQUIRE(moved.on_grid() == moved);
    std::vector<Nanoseconds> times;
    for (std::int64_t x = 0; x <= width; ++x) times.push_back(moved.time_at(x));
    return times;
  };
  const std::vector<Nanoseconds> before = edges(-length / 3);
  const std::vector<Nanoseconds> after = edges(-length / 3 + length / 5);
  const auto shared = std::find(before.begin(), before.end(), after.front());
  REQUIRE(shared != before.end());
  REQUIRE(std::equal(shared, before.end(), after.begin()));
}
