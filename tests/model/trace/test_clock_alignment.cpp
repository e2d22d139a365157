// Clocks of recordings set to each other. Both ranks of ranks_late0/1 ran on one machine, so what its clock says is the answer that collectives
// must give.
#include "model/trace/clock_alignment.h"

#include <array>
#include <cstdlib>

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

}  // namespace

TEST_CASE("the ends of collectives set two clocks to each other within microseconds") {
  const auto first = recorded("ranks_late0"), second = recorded("ranks_late1");
  const Nanoseconds by_clock = second->provenance().monotonic_epoch - first->provenance().monotonic_epoch;
  REQUIRE(by_clock != 0);
  const std::optional<ClockAlignment> found = shift_by_collectives(*first, *second);
  REQUIRE(found);
  CHECK(found->by == ClockSource::kCollectives);
  CHECK(std::abs(found->shift - by_clock) <= 5'000);
  CHECK(found->collectives == 21);  // of the model once, and of 20 steps
  CHECK(found->spread <= 5'000);
  const std::optional<ClockAlignment> back = shift_by_collectives(*second, *first);
  REQUIRE(back);
  CHECK(back->shift == -found->shift);
}

TEST_CASE("recordings without common collectives are set by the time of day") {
  const auto alone = recorded("cuda_streams"), rank = recorded("ranks_late0");
  CHECK_FALSE(shift_by_collectives(*alone, *rank));
  const std::vector<ClockAlignment> clocks = align_clocks(std::array{alone, rank});
  CHECK(clocks[0] == ClockAlignment{});
  CHECK(clocks[1].by == ClockSource::kTimeOfDay);
  CHECK(clocks[1].shift == rank->provenance().utc_epoch - alone->provenance().utc_epoch);
}

TEST_CASE("what has been set serves those that have something in common with it") {
  const auto alone = recorded("cuda_streams"), first = recorded("ranks_late0"), second = recorded("ranks_late1");
  const std::vector<ClockAlignment> clocks = align_clocks(std::array{alone, first, second});
  CHECK(clocks[1].by == ClockSource::kTimeOfDay);
  CHECK(clocks[2].by == ClockSource::kCollectives);
  CHECK(clocks[2].shift == clocks[1].shift + shift_by_collectives(*first, *second)->shift);
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

TEST_CASE("a sentence says how a clock was set, and nothing where there was no need") {
  CHECK(alignment_sentence("a.trace", {}).empty());
  CHECK(alignment_sentence("a.trace", {1, ClockSource::kCollectives, 84, 4'040}) ==
        "The clock of a.trace was set by 84 collectives in common with others, to within 4.0 us.");
  CHECK_THAT(alignment_sentence("a.trace", {1, ClockSource::kTimeOfDay}), contains_text("a.trace was set by the time of day"));
  CHECK_THAT(alignment_sentence("a.trace", {1, ClockSource::kFirstEvents}), contains_text("is not known"));
}
