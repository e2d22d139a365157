// Clocks of recordings set to each other. Both ranks of ranks_late0/1 ran on one machine, so its clock gives the answer that collectives must give. For
// recordings that are made here, the time of every event on both clocks is known.
#include "model/trace/combining/clock_alignment.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "combining/clock_by_collectives.h"
#include "model/trace/combining/combine.h"
#include "model/trace/load.h"
#include "rank_of_collectives.h"
#include "support/catch.h"
#include "support/cost.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::shared_ptr<const Trace> recorded(const std::string& name) {
  const auto trace = load_trace(test::data_file(name + ".trace"));
  REQUIRE(trace.has_value());
  return *trace;
}

constexpr Nanoseconds kSecond = 1'000'000'000;

// A machine whose clock is `ahead` of true time, and gains `ppm`.
test::RankOfCollectives machine(const char* name, Nanoseconds ahead, double ppm) {
  const auto clock = [ahead, ppm](Nanoseconds true_time) {
    return test::kEpoch + ahead + true_time + std::llround(static_cast<double>(true_time) * ppm * 1e-6);
  };
  return {.boot = name, .epoch = test::kEpoch + ahead, .clock = clock};
}

std::optional<ClockAlignment> clock_by_collectives(const Trace& first, const Trace& second) {
  return lanescope::clock_by_collectives(collective_ends(first, {}), collective_ends(second, {}));
}

// The times at which a rank whose collectives end at `times` leaves them: up to 5 us later, one in 50 up to 20 ms.
std::vector<Nanoseconds> noisy(std::vector<Nanoseconds> times, unsigned seed) {
  std::mt19937 random(seed);
  for (Nanoseconds& time : times) time += static_cast<Nanoseconds>(random() % (random() % 50 == 0 ? 20'000'000 : 5'000));
  return times;
}

// The largest difference between two clocks' times of one moment, over an hour and a little more.
Nanoseconds farthest_apart(const test::RankOfCollectives& a, const test::RankOfCollectives& b, const ClockLine& from_b_to_a) {
  Nanoseconds farthest = 0;
  for (Nanoseconds time = 0; time <= 3'700 * kSecond; time += kSecond / 3)
    farthest = std::max(farthest, std::abs(from_b_to_a(b.clock(time) - b.epoch) - (a.clock(time) - a.epoch)));
  return farthest;
}

}  // namespace

TEST_CASE("the ends of collectives set two clocks to each other within microseconds") {
  const auto first = recorded("ranks_late0"), second = recorded("ranks_late1");
  const Nanoseconds by_clock = second->provenance().monotonic_epoch - first->provenance().monotonic_epoch;
  REQUIRE(by_clock != 0);
  const std::optional<ClockAlignment> found = clock_by_collectives(*first, *second);
  REQUIRE(found);
  CHECK(found->by == ClockSource::kCollectives);
  CHECK(std::abs(found->clock.shift() - by_clock) <= 5'000);
  CHECK(found->collectives == 21);  // one of the model, and 20 of steps
  CHECK(found->spread <= 5'000);
  const std::optional<ClockAlignment> back = clock_by_collectives(*second, *first);
  REQUIRE(back);
  CHECK(back->clock == ClockLine(-found->clock.shift()));
}

TEST_CASE("recordings without common collectives are set by the time of day") {
  const auto alone = recorded("cuda_streams"), rank = recorded("ranks_late0");
  CHECK_FALSE(clock_by_collectives(*alone, *rank));
  const std::vector<ClockAlignment> clocks = align_clocks(std::array{alone, rank});
  CHECK(clocks[0] == ClockAlignment{});
  CHECK(clocks[1].by == ClockSource::kTimeOfDay);
  CHECK(clocks[1].clock == rank->provenance().utc_epoch - alone->provenance().utc_epoch);
}

TEST_CASE("what has been set serves those that have something in common with it") {
  const auto alone = recorded("cuda_streams"), first = recorded("ranks_late0"), second = recorded("ranks_late1");
  const std::vector<ClockAlignment> clocks = align_clocks(std::array{alone, first, second});
  CHECK(clocks[1].by == ClockSource::kTimeOfDay);
  CHECK(clocks[2].by == ClockSource::kCollectives);
  CHECK(clocks[2].clock == clock_by_collectives(*first, *second)->clock.then(clocks[1].clock));
}

TEST_CASE("300,000 collectives without kernels cost no more than a small file may, and setting clocks can be stopped") {
  const auto of = [](const char* boot) {
    return test::recorded({.boot = boot, .kernels = test::CollectiveKernels::kNotRecorded}, test::times_of_collectives(300'000, 50'000));
  };
  const std::array many = {of("a"), of("b")};
  const test::Cost cost = test::cost_of([&] { CHECK(align_clocks(many)[1].by == ClockSource::kTimeOfDay); });
  CHECK(cost.seconds < test::kMostSeconds);
  std::stop_source stop;
  stop.request_stop();
  CHECK(align_clocks(many, stop.get_token()).empty());
}

TEST_CASE("clocks that drift for an hour, seconds apart, are set to within a microsecond") {
  const double ppm = GENERATE(0.0, 0.01, 0.2, 1.0, 20.0, -2.0, -150.0);
  const auto a = machine("a", 0, 0.3);
  auto b = machine("b", 7 * kSecond, 0.3 + ppm);
  b.utc_epoch += 5 * kSecond;  // its time of day is wrong by that
  const std::vector<Nanoseconds> times = test::times_of_collectives(3'000, 1'200'000'000);
  const std::array traces = {test::recorded(a, times), test::recorded(b, times)};
  const ClockAlignment found = align_clocks(traces)[1];
  CHECK(found.by == ClockSource::kCollectives);
  CHECK(found.collectives == 3'000);
  CHECK(found.spread <= 1'000);
  CHECK(farthest_apart(a, b, found.clock) <= 1'000);
  CHECK(found.clock.is_shift() == (ppm == 0));
  // The same seen from the other machine, and with a third recording that was also made on b's machine.
  CHECK(farthest_apart(b, a, clock_by_collectives(*traces[1], *traces[0])->clock) <= 1'000);
  auto late = b;
  late.epoch += 600 * kSecond;
  const std::array with_late = {traces[0], traces[1], test::recorded(late, std::array<Nanoseconds, 1>{700 * kSecond})};
  if (with_late[2]->provenance().monotonic_epoch != 0) CHECK(farthest_apart(a, late, align_clocks(with_late)[2].clock) <= 1'000);
}

TEST_CASE("ends that differ by microseconds, and a few by far more, say a clock's drift all the same") {
  const double ppm = GENERATE(0.2, 20.0, -20.0);
  const auto a = machine("a", 10 * kSecond, 0), b = machine("b", 7 * kSecond, ppm);
  const std::vector<Nanoseconds> times = test::times_of_collectives(3'000, 1'200'000'000);
  const std::optional<ClockAlignment> found = clock_by_collectives(*test::recorded(a, noisy(times, 1)), *test::recorded(b, noisy(times, 2)));
  REQUIRE(found);
  CHECK(found->spread <= 5'000);
  CHECK(farthest_apart(a, b, found->clock) <= 2'000);
}

TEST_CASE("collectives of a second say no drift that an hour could be told by") {
  const auto a = machine("a", 0, 0), b = machine("b", kSecond, 0);
  const std::vector<Nanoseconds> times = test::times_of_collectives(40, kSecond / 40);
  const std::optional<ClockAlignment> found = clock_by_collectives(*test::recorded(a, noisy(times, 3)), *test::recorded(b, noisy(times, 4)));
  REQUIRE(found);
  CHECK(found->clock.is_shift());
  CHECK(farthest_apart(a, b, found->clock) <= 5'000);
}

TEST_CASE("collectives that contradict each other set a clock by their median, and say how far they are apart") {
  const auto a = machine("a", 0, 0), b = machine("b", 0, 0);
  std::vector<Nanoseconds> times = test::times_of_collectives(101, kSecond), others = times;
  for (std::size_t i = 0; i < others.size(); ++i) others[i] += static_cast<Nanoseconds>(i % 3) * 300'000'000;  // 0, 300 or 600 ms later
  const std::optional<ClockAlignment> found = clock_by_collectives(*test::recorded(a, times), *test::recorded(b, others));
  REQUIRE(found);
  CHECK(found->clock == ClockLine(-300'000'000));
  CHECK(found->spread == 300'000'000);
}

TEST_CASE("a line from one clock to another keeps the order of times, and leads back") {
  const double drift = GENERATE(0.0, 3.7e-4, -3.7e-4, 2e-9, -1e-6);
  const ClockLine line = drift == 0 ? ClockLine(-12'345) : ClockLine(-12'345, drift, 1'000'000'007);
  const ClockLine onward(77, -drift / 3, 5'000), both = line.then(onward);
  for (const Nanoseconds from : {Nanoseconds{0}, Nanoseconds{999'990'000}, 3'600 * kSecond, -5 * kSecond})
    for (Nanoseconds time = from; time < from + 20'000; ++time) {
      const Nanoseconds there = line(time);
      if (there > line(time + 1) || line(line.back(there)) != there || line.back(there) > time || std::abs(both(time) - onward(there)) > 2) FAIL_CHECK(time);
      const double exact = static_cast<double>(time) - 12'345 + drift * static_cast<double>(time - 1'000'000'007);
      if (std::abs(static_cast<double>(there) - exact) > 1.001) FAIL_CHECK(time);
    }
}

TEST_CASE("a sentence says how a clock was set, and nothing where there was no need") {
  CHECK(alignment_sentence("a.trace", {}).empty());
  CHECK(alignment_sentence("a.trace", {1, ClockSource::kCollectives, 84, 4'040}) ==
        "The clock of a.trace was set by 84 collectives in common with others, to within 4.0 us.");
  CHECK(alignment_sentence("a.trace", {ClockLine(1, 1.25e-6, 0), ClockSource::kCollectives, 84, 4'040}) ==
        "The clock of a.trace was set by 84 collectives in common with others, to within 4.0 us. It runs 1.250 ppm slower.");
  CHECK_THAT(alignment_sentence("a.trace", {1, ClockSource::kTimeOfDay}), contains_text("a.trace was set by the time of day"));
  CHECK_THAT(alignment_sentence("a.trace", {1, ClockSource::kFirstEvents}), contains_text("is not known"));
}
