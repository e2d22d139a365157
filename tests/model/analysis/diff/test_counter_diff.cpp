// Counters of kernels before and after a change, and limits on them.
#include <algorithm>
#include <memory>
#include <vector>

#include "model/analysis/diff/counter_diff.h"
#include "model/analysis/diff/diff_limits.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/measured_run.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

CounterChange find(const std::vector<CounterChange>& changes, std::string_view what) {
  const auto found = std::find_if(changes.begin(), changes.end(), [&](const CounterChange& each) { return each.what == what; });
  REQUIRE(found != changes.end());
  return *found;
}

}  // namespace

TEST_CASE("counters of kernels are compared by name and shape, and few samples tell no change from noise") {
  // Each side has five launches of one kernel: first 1.00 ms give or take 2 %, then half of that; DRAM is as busy as before.
  const std::vector<std::shared_ptr<const Trace>> before{measured_run(1, 5)}, after{measured_run(0.5, 5)}, once{measured_run(0.5, 1)},
      first{measured_run(1, 1)};
  const auto changes = compare_counters(before, after);
  const CounterChange duration = find(changes, "Duration");
  CHECK(duration.verdict == DiffVerdict::kLess);
  CHECK(duration.change == Approx(-50).epsilon(1e-6));
  CHECK(duration.change_low < -50);
  CHECK(duration.change_high > -50);
  CHECK(duration.change_high < -40);
  CHECK(duration.first_launches == 5);
  CHECK(find(changes, "DRAM throughput").verdict == DiffVerdict::kSame);
  CHECK(find(compare_counters(first, once), "Duration").verdict == DiffVerdict::kUnsure);
  CHECK(compare_counters(before, std::vector{*load_trace(data_file("zoo_counts.trace"))}).empty());  // the kernels have other names
  CHECK(is_worth_a_look(duration));
  CHECK_FALSE(is_worth_a_look(find(changes, "DRAM throughput")));
  CHECK(is_worth_a_look(find(compare_counters(first, once), "Duration")));
  CHECK_FALSE(is_worth_a_look(find(compare_counters(first, std::vector{measured_run(0.98, 1)}), "Duration")));  // by 2 %
  // Each item names the launch of its side that was measured first.
  CHECK(duration.first_place.run == 0);
  CHECK(before[0]->event(duration.first_place.event).start == 0);
  CHECK(after[0]->event(duration.second_place.event).duration == 490'000);
}

TEST_CASE("a change of a kernel's counters names its shape, on both sides where it has another one now") {
  const std::vector<std::shared_ptr<const Trace>> before{measured_run(1, 5)}, same{measured_run(0.5, 5)}, wider{measured_run(0.5, 5, 80, 64)};
  CHECK(find(compare_counters(before, same), "Duration").grid == "32 1 1");
  const CounterChange change = find(compare_counters(before, wider), "Duration");
  CHECK(change.grid == "32 1 1 -> 64 1 1");
  CHECK(change.block == "32 1 1");
}

TEST_CASE("kernels that have no counterpart are named") {
  const std::vector<std::shared_ptr<const Trace>> run{measured_run(1, 5)}, other{*load_trace(data_file("kernel_counters.trace"))};
  CHECK(unpaired_kernels(run, run).empty());
  const std::vector<std::string> names = unpaired_kernels(run, other);
  const std::string own = compare_counters(run, run).front().kernel;
  CHECK(std::count(names.begin(), names.end(), own) == 1);
  CHECK(names.size() > 1);
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("limits on metrics of kernels have a direction, and noise exceeds none") {
  const std::vector<std::shared_ptr<const Trace>> before{measured_run(1, 5, 80)}, after{measured_run(0.5, 5, 60)};
  const std::vector<CounterChange> changes = compare_counters(before, after), back = compare_counters(after, before),
                                   once = compare_counters(std::vector{measured_run(1, 1, 80)}, std::vector{measured_run(0.5, 1, 60)});
  const auto verdict = [](const char* text, const std::vector<CounterChange>& of) {
    const auto limit = parse_diff_limit(text);
    REQUIRE(limit);
    LimitVerdict worst = LimitVerdict::kKept;
    for (const CounterChange& change : of)
      if (const LimitVerdict one = judge(*limit, change); one != LimitVerdict::kKept) worst = one;
    return worst;
  };
  // The hit rate fell by a quarter, and the time by half.
  CHECK(verdict("L2 hit rate=-20%", changes) == LimitVerdict::kExceeded);
  CHECK(verdict("l2 HIT rate = -20 %", changes) == LimitVerdict::kExceeded);
  CHECK(verdict("L2 hit rate=-30", changes) == LimitVerdict::kKept);
  CHECK(verdict("L2 hit rate=20", changes) == LimitVerdict::kKept);
  CHECK(verdict("L2 hit rate=20", back) == LimitVerdict::kExceeded);
  CHECK(verdict("L2 hit rate=+20%", back) == LimitVerdict::kExceeded);
  CHECK(verdict("L2 hit rate=-0", changes) == LimitVerdict::kExceeded);
  CHECK(verdict("L2 hit rate=-0", back) == LimitVerdict::kKept);
  CHECK(verdict("L2 hit rate=-20%", once) == LimitVerdict::kUnsure);
  CHECK(verdict("DRAM throughput=0", changes) == LimitVerdict::kKept);  // only noise
  CHECK(verdict("DRAM throughput=-0", changes) == LimitVerdict::kKept);
  // A change from zero exceeds every share; with too few launches it is not certain.
  const std::vector<std::shared_ptr<const Trace>> no_hits{measured_run(1, 5, 0)};
  CHECK(verdict("L2 hit rate=50%", compare_counters(no_hits, after)) == LimitVerdict::kExceeded);
  CHECK(verdict("L2 hit rate=-50%", compare_counters(no_hits, after)) == LimitVerdict::kKept);
  CHECK(verdict("L2 hit rate=50%", compare_counters(no_hits, no_hits)) == LimitVerdict::kKept);
  CHECK(verdict("L2 hit rate=50%", compare_counters(std::vector{measured_run(1, 1, 0)}, std::vector{measured_run(1, 1, 60)})) == LimitVerdict::kUnsure);
  // A limit without a name is one on time.
  CHECK(verdict("5%", changes) == LimitVerdict::kKept);
  CHECK(verdict("5%", back) == LimitVerdict::kExceeded);
  CHECK(verdict("5%", once) == LimitVerdict::kKept);

  for (const char* wrong :
       {"", "much", "-5%", "-0", "nan", "inf", "=5", "L2=5", "L2 hit rate=", "L2 hit rate=%", "L2 hit rate=5%%", "5% of it", "+-5%", "++5%"}) {
    INFO(wrong);
    REQUIRE_FALSE(parse_diff_limit(wrong));
    CHECK(parse_diff_limit(wrong).error().kind == ErrorKind::kUsage);
  }
  CHECK(parse_diff_limit("L2=5").error().text.find("L2 hit rate") != std::string::npos);
}
