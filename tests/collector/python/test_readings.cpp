// Which reading belongs to a time; times in ns, chosen by hand.
#include "readings.h"
#include "support/catch.h"

using namespace lanescope::python;

namespace {

const Function kA{"a", "x.py", 1};
const Function kB{"b", "x.py", 5};
Stack stack(const Function& function, std::uint32_t line) { return {{&function, line, true}}; }

constexpr auto kAlways = [](std::int64_t) { return true; };
std::uint32_t line_of(const std::shared_ptr<const Stack>& stack) { return stack ? stack->front().line : 0; }

}  // namespace

TEST_CASE("the last reading before a time counts, up to a distance") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  CHECK(line_of(readings.at(100, 0, kAlways)) == 1);
  CHECK(line_of(readings.at(199, 99, kAlways)) == 1);
  CHECK(line_of(readings.at(199, 98, kAlways)) == 0);
  CHECK(line_of(readings.at(200, 0, kAlways)) == 5);
  CHECK(line_of(readings.at(250, 50, kAlways)) == 5);
  CHECK(line_of(readings.at(251, 50, kAlways)) == 0);
  CHECK(line_of(readings.at(99, 50, kAlways)) == 0);
}

TEST_CASE("readings at times that do not count are passed over") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  readings.add(300, stack(kA, 2));
  const auto before = [](std::int64_t limit) { return [limit](std::int64_t time) { return time < limit; }; };
  CHECK(line_of(readings.at(350, 250, before(1'000))) == 2);
  CHECK(line_of(readings.at(350, 250, before(300))) == 5);
  CHECK(line_of(readings.at(350, 250, before(200))) == 1);
  CHECK(line_of(readings.at(350, 249, before(200))) == 0);
  CHECK(line_of(readings.at(350, 250, before(100))) == 0);
}

TEST_CASE("a reading within a call's time is that of the call") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  CHECK(line_of(readings.within(150, 250)) == 5);
  CHECK(line_of(readings.within(90, 120)) == 1);
  CHECK(line_of(readings.within(120, 180)) == 0);
}

TEST_CASE("a stack that did not change holds from its first to its last reading, and not beyond one that was torn") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(900, stack(kA, 1));
  CHECK(line_of(readings.at(950, 50, kAlways)) == 1);
  CHECK(line_of(readings.at(950, 850, [](std::int64_t time) { return time == 100; })) == 1);
  CHECK(line_of(readings.within(400, 450)) == 1);
  readings.interrupt();
  readings.add(1'800, stack(kA, 1));
  CHECK(line_of(readings.at(1'500, 50, kAlways)) == 0);
  CHECK(line_of(readings.at(1'800, 0, kAlways)) == 1);
}

TEST_CASE("old readings are forgotten") {
  Readings readings;
  readings.add(100, stack(kA, 1));
  readings.add(200, stack(kB, 5));
  readings.add(300, stack(kB, 5));
  readings.forget_before(250);
  CHECK(line_of(readings.at(110, 20, kAlways)) == 0);
  CHECK(line_of(readings.at(210, 20, kAlways)) == 0);
  CHECK(line_of(readings.at(310, 20, kAlways)) == 5);
}
