// Times by the processor's counter: near those of the clock, and never decreasing.
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "records/counter_lines.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// A clock that gains on the counter at a changing speed, in parts per million. The counter runs at 2.5 GHz.
struct SteeredClock {
  double time = 1e15;
  std::uint64_t counter = 77'000'000'000;
  void run(double ticks, double parts_per_million) {
    counter += static_cast<std::uint64_t>(ticks);
    time += ticks * 0.4 * (1 + parts_per_million * 1e-6);
  }
};

}  // namespace

TEST_CASE("lines stay within a microsecond of a clock that is steered, and never step back") {
  std::mt19937 random(GENERATE(1u, 2u, 3u));
  std::uniform_real_distribution<double> noise(-20, 20);
  SteeredClock clock;
  channel::CounterClock shared{};
  CounterLines lines;
  double steering = 12;
  std::int64_t latest = 0;
  int compared = 0;
  for (int look = 0; look < 500; ++look) {
    if (look % 50 == 0) steering += noise(random) / 4;  // a new speed every five seconds, as a time daemon sets it
    if (const auto line = lines.add({clock.counter, static_cast<std::int64_t>(clock.time + noise(random))})) channel::write_line(shared, *line);
    for (int step = 0; step < 100; ++step) {
      clock.run(2.5e6, steering);  // a millisecond
      const std::optional<std::int64_t> seen = channel::time_at(shared, clock.counter);
      if (!seen) continue;
      REQUIRE(*seen > latest);
      REQUIRE(std::abs(static_cast<double>(*seen) - clock.time) < 1000);
      latest = *seen;
      ++compared;
    }
  }
  CHECK(compared > 49'000);
}

TEST_CASE("lines stay near a clock that the host can compare only seldom, and never let an error grow") {
  std::mt19937 random(GENERATE(1u, 2u, 3u));
  std::uniform_real_distribution<double> noise(-20, 20);
  std::uniform_int_distribution<int> pause(100, 3'000);  // ms; the host is late at every second reading
  SteeredClock clock;
  channel::CounterClock shared{};
  CounterLines lines;
  std::int64_t latest = 0;
  for (int look = 0; look < 100; ++look) {
    if (const auto line = lines.add({clock.counter, static_cast<std::int64_t>(clock.time + noise(random))})) channel::write_line(shared, *line);
    const int ms = look % 2 == 0 ? 100 : pause(random);
    for (int step = 0; step < ms; ++step) {
      clock.run(2.5e6, 12);  // a millisecond
      const std::optional<std::int64_t> seen = channel::time_at(shared, clock.counter);
      if (!seen) continue;
      REQUIRE(*seen > latest);
      REQUIRE(std::abs(static_cast<double>(*seen) - clock.time) < 2'000);  // 40 ns in 100 ms, 3 s long
      latest = *seen;
    }
  }
}

TEST_CASE("a clock that leapt is caught up with, forwards") {
  SteeredClock clock;
  CounterLines lines;
  std::int64_t latest = 0;
  for (int look = 0; look < 200; ++look) {
    if (look == 20) clock.time += 5e6;
    if (look == 100) clock.time -= 5e6;
    lines.add({clock.counter, static_cast<std::int64_t>(clock.time)});
    clock.run(2.5e8, 0);
    if (lines.line().rate == 0) continue;
    const std::int64_t seen = channel::time_on(lines.line(), clock.counter);
    REQUIRE(seen > latest);
    latest = seen;
    if (look == 99 || look == 199) CHECK(std::abs(static_cast<double>(seen) - clock.time) < 1000);
  }
}

TEST_CASE("the shared clock agrees with the system's, also without a line") {
  channel::CounterClock clock{};
  const auto check = [&] {
    for (int i = 0; i < 1'000; ++i) {
      const std::int64_t before = channel::monotonic_now();
      const std::int64_t seen = channel::event_now(clock);
      const std::int64_t after = channel::monotonic_now();
      REQUIRE(seen >= before - 1000);
      REQUIRE(seen <= after + 1000);
    }
  };
  check();
  if (!CounterLines::are_possible()) {
    WARN("The kernel does not keep time by the processor's counter: not tested.");
    return;
  }
  CounterLines lines;
  constexpr std::uint64_t kLines = 10;  // each line is made from what came since the previous one, however seldom it is called
  const std::int64_t begin = channel::monotonic_now();
  while (clock.written.load() <= kLines && channel::monotonic_now() - begin < 60'000'000'000)
    if (const auto line = lines.add(CounterLines::read())) channel::write_line(clock, *line);
  REQUIRE(clock.written.load() > kLines);
  check();
}

TEST_CASE("a time is by one line, never by parts of two, however often lines are written") {
  constexpr std::int64_t kFar = 100'000'000'000'000'000;
  constexpr std::int64_t kTick = std::int64_t{1} << 32;  // one nanosecond a tick
  channel::CounterClock clock{};
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    // All lines give the same times; parts of two of them would be hours apart.
    for (std::int64_t i = 1; !is_over; i = i % 1'000 + 1)
      channel::write_line(clock, {kTick, static_cast<std::uint64_t>(i * 10'000'000'000'000), kFar + i * 10'000'000'000'000});
  });
  std::uint64_t wrong = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const std::int64_t seen = channel::event_now(clock);
    const bool is_by_line = std::abs(seen - kFar - static_cast<std::int64_t>(channel::read_counter())) < 1'000'000'000'000;
    const bool is_by_system = std::abs(seen - channel::monotonic_now()) < 1'000'000'000'000;  // if lines came too fast
    wrong += is_by_line || is_by_system ? 0 : 1;
  }
  is_over = true;
  writer.join();
  CHECK(wrong == 0);
}
