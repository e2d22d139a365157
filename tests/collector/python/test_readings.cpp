// Which reading belongs to a time; times in ns, chosen by hand.
#include "readings.h"
#include "support/catch.h"

using namespace lanescope::python;

namespace {

const Function kA{"a", "x.py", 1};
const Function kB{"b", "x.py", 5};
Stack stack(const Function& function, std::uint32_t line) { return {{&function, line, true}}; }

std::uint32_t line_near(const Readings& readings, std::int64_t from, std::int64_t until, std::int64_t distance) {
  const auto found = readings.nearest(from, until, distance);
  return found ? found->front().line : 0;
}

}  // namespace

TEST_CASE("the reading nearest in time counts, up to a distance") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  CHECK(line_near(readings, 100, 100, 0) == 1);
  CHECK(line_near(readings, 140, 140, 50) == 1);
  CHECK(line_near(readings, 160, 160, 50) == 5);
  CHECK(line_near(readings, 150, 150, 49) == 0);
  CHECK(line_near(readings, 240, 240, 50) == 5);
  CHECK(line_near(readings, 251, 251, 50) == 0);
  CHECK(line_near(readings, 49, 49, 50) == 0);
}

TEST_CASE("a reading within a call's time is that of the call") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  CHECK(line_near(readings, 150, 250, 0) == 5);
  CHECK(line_near(readings, 90, 120, 0) == 1);
  CHECK(line_near(readings, 120, 180, 0) == 0);
}

TEST_CASE("a stack that did not change holds from its first to its last reading, and not beyond one that was torn") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(900, stack(kA, 1));
  CHECK(line_near(readings, 500, 500, 0) == 1);
  readings.interrupt();
  readings.add(1'800, stack(kA, 1));
  CHECK(line_near(readings, 1'000, 1'500, 50) == 0);
  CHECK(line_near(readings, 1'800, 1'800, 0) == 1);
}

TEST_CASE("old readings are forgotten") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  readings.forget_before(150);
  CHECK(line_near(readings, 100, 100, 20) == 0);
  CHECK(line_near(readings, 200, 200, 0) == 5);
}
