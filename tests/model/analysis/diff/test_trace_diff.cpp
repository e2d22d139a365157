// Comparison of traces: what is reported as changed was changed, and noise is not reported.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "diff/measurement.h"
#include "model/analysis/diff/diff_limits.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/trace/kernel_records.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using lanescope::test::Scenario;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

struct Loop {
  unsigned seed = 1;
  int iterations = 60;
  Nanoseconds loading = 2 * kMillisecond;
  Nanoseconds kernel = kMillisecond;
  double noise = 0.05;  // standard deviation of loading and of the kernel, relative to their length
  bool ranges = true;
  Nanoseconds stray = 0;  // pauses between iterations, up to 22 times this
  int cold = 0;           // number of first iterations, which take 30 % longer
};

// A loop that loads, inside a range of its own, and then runs one kernel.
std::shared_ptr<const Trace> trace_of(const Loop& loop) {
  std::mt19937 random(loop.seed);
  std::normal_distribution<double> noise(1, loop.noise);
  Scenario program;
  Nanoseconds t = 0;
  for (int i = 0; i < loop.iterations; ++i) {
    const double cold = i < loop.cold ? 1.3 : 1;
    const auto loading = static_cast<Nanoseconds>(static_cast<double>(loop.loading) * cold * noise(random));
    const auto kernel = static_cast<Nanoseconds>(static_cast<double>(loop.kernel) * cold * noise(random));
    if (loop.ranges) {
      program.range("step_" + std::to_string(i), t, t + loading + kernel + 30'000, 0);
      program.range("load", t, t + loading, 1);
    }
    program.os_call("read", t, t + loading);
    program.kernel("train(float*)", t + loading, t + loading + 5'000, t + loading + 8'000, t + loading + 8'000 + kernel);
    program.call("cudaStreamSynchronize", t + loading + 6'000, t + loading + kernel + 20'000);
    t += loading + kernel + 30'000 + loop.stray * (i * 7919 % 23);
  }
  return program.trace();
}

TraceDiff compare(const Loop& first, const Loop& second, const DiffOptions& options = {}) {
  const Result<TraceDiff> diff = compare_traces(*trace_of(first), *trace_of(second), options);
  REQUIRE(diff.has_value());
  return *diff;
}

const DiffItem& item(const TraceDiff& diff, DiffKind kind, std::string_view name) {
  const auto found =
      std::find_if(diff.items.begin(), diff.items.end(), [&](const DiffItem& candidate) { return candidate.kind == kind && candidate.name == name; });
  INFO(name);
  REQUIRE(found != diff.items.end());
  return *found;
}

}  // namespace

TEST_CASE("the ranges that iterations are have no verdict beside that on their duration") {
  const TraceDiff diff = compare({}, {.seed = 2, .kernel = 2 * kMillisecond});
  CHECK(item(diff, DiffKind::kDuration, "Iteration").verdict == DiffVerdict::kMore);
  CHECK(item(diff, DiffKind::kRange, "load").verdict == DiffVerdict::kSame);
  CHECK(std::none_of(diff.items.begin(), diff.items.end(), [](const DiffItem& one) { return one.name == "step_*"; }));
}

TEST_CASE("ranges of one name in another domain are not added to those of the default domain") {
  const auto program_of = [](Nanoseconds step) {
    Scenario program;
    program.builder()->set_domain(program.process(), 5, "loader");
    for (int i = 0; i < 20; ++i) {
      const Nanoseconds t = i * 10 * kMillisecond;
      program.range("step " + std::to_string(i), t, t + step);
      program.range("part 3", t, t + 2 * kMillisecond, 1);
      program.range("part 3", t, t + 5 * kMillisecond, 0, 5);
    }
    return program.trace();
  };
  const Result<TraceDiff> diff = compare_traces(*program_of(8 * kMillisecond), *program_of(9 * kMillisecond), {});
  REQUIRE(diff);
  CHECK(item(*diff, DiffKind::kRange, "part *").first.per_iteration == 2.0 * kMillisecond);
  CHECK(item(*diff, DiffKind::kRange, "part *@loader").first.per_iteration == 5.0 * kMillisecond);
}

TEST_CASE("ranges of one domain are not compared with those of another, whichever runs have them") {
  enum class Has : std::uint8_t { kLoader, kBoth };
  const auto program_of = [](Has has) {
    Scenario program;
    program.builder()->set_domain(program.process(), 5, "loader");
    for (int i = 0; i < 20; ++i) {
      const Nanoseconds t = i * 10 * kMillisecond;
      program.range("step " + std::to_string(i), t, t + 8 * kMillisecond);
      program.range("item " + std::to_string(i), t, t + kMillisecond, 0, 5);
      if (has == Has::kBoth) program.range("item " + std::to_string(i), t, t + 7 * kMillisecond, 1);
    }
    return program.trace();
  };
  const std::shared_ptr<const Trace> loader = program_of(Has::kLoader), both = program_of(Has::kBoth);
  const auto check = [](const TraceDiff& diff, DiffVerdict alone) {
    const DiffItem& of_loader = item(diff, DiffKind::kRange, "item *@loader");
    CHECK(of_loader.verdict == DiffVerdict::kSame);
    CHECK(of_loader.first.per_iteration == 1.0 * kMillisecond);
    CHECK(of_loader.second.per_iteration == 1.0 * kMillisecond);
    REQUIRE(of_loader.domain != nullptr);
    CHECK(*of_loader.domain == "loader");
    CHECK(family_of_ranges(of_loader) == "item *");
    const DiffItem& of_default = item(diff, DiffKind::kRange, "item *");
    CHECK(of_default.verdict == alone);
    CHECK(of_default.domain->empty());
    CHECK(family_of_ranges(of_default) == "item *");
  };
  const Result<TraceDiff> more = compare_traces(*loader, *both, {}), less = compare_traces(*both, *loader, {});
  REQUIRE(more);
  REQUIRE(less);
  check(*more, DiffVerdict::kOnlySecond);
  check(*less, DiffVerdict::kOnlyFirst);
  // Two runs of one side that differ so: what they don't have in common is no noise of what they have.
  const std::array first{loader, both}, second{both, both};
  const Result<TraceDiff> runs = compare_runs(first, second, {});
  REQUIRE(runs);
  CHECK(item(*runs, DiffKind::kRange, "item *@loader").first.per_iteration == 1.0 * kMillisecond);
  // In one domain alone, ranges keep the names of their families.
  const Result<TraceDiff> alone = compare_traces(*loader, *loader, {});
  REQUIRE(alone);
  CHECK(item(*alone, DiffKind::kRange, "item *").domain == nullptr);
}

TEST_CASE("long names of domains are not repeated for each of very many families") {
  constexpr std::size_t kLong = 10'000;
  Scenario program;
  program.builder()->set_domain(program.process(), 5, std::string(kLong, 'd'));
  for (int i = 0; i < 20; ++i)
    for (const std::string& name : {"step " + std::to_string(i), std::string("load"), std::string("store")})
      for (const std::uint32_t domain : {0u, 5u}) program.range(name, i * kMillisecond, i * kMillisecond + 1'000, name.starts_with("step") ? 0 : 1, domain);
  const Result<TraceDiff> diff = compare_traces(*program.trace(), *program.trace(), {});
  REQUIRE(diff);
  std::size_t told_apart = 0;
  for (const DiffItem& one : diff->items) {
    CHECK(one.name.size() < 200);
    if (one.domain == nullptr) continue;
    ++told_apart;
    CHECK((one.domain->empty() || one.domain->size() == kLong));
  }
  CHECK(told_apart >= 4);
}

TEST_CASE("a few slower iterations at the beginning of both sides warm up, and are no second speed of the program") {
  const unsigned seed = GENERATE(range(1u, 6u));
  const bool ranges = GENERATE(true, false);
  const int cold = ranges ? 2 : 3;  // from kernel to kernel; the last iteration is half of it
  const Loop before{.seed = 2 * seed, .noise = 0.02, .ranges = ranges, .cold = cold + 1};
  const Loop faster{.seed = 2 * seed + 1, .loading = 1'700'000, .kernel = 850'000, .noise = 0.02, .ranges = ranges, .cold = cold};
  const TraceDiff diff = compare(before, faster);
  INFO("seed " << seed << (ranges ? ", by ranges" : ", by kernels"));
  const DiffItem& duration = item(diff, DiffKind::kDuration, "Iteration");
  CHECK(duration.verdict == DiffVerdict::kLess);
  CHECK(duration.change_low > -18);
  CHECK(duration.change_high < -12);
  CHECK(diff.first_skipped >= 3);
  CHECK(diff.first_skipped <= (ranges ? 3 : 4));
  CHECK(diff.second_skipped >= 2);
  CHECK(diff.second_skipped <= (ranges ? 2 : 3));

  const TraceDiff equal = compare(before, {.seed = 2 * seed + 1, .noise = 0.02, .ranges = ranges, .cold = cold});
  CHECK(item(equal, DiffKind::kDuration, "Iteration").verdict == DiffVerdict::kSame);

  // A slow start on one side only is a difference. If the user says how many iterations to skip, that number is used.
  CHECK(compare(before, {.seed = 2 * seed + 1, .noise = 0.02, .ranges = ranges}).first_skipped == 0);
  DiffOptions options;
  options.skip = 0;
  CHECK(compare(before, faster, options).first_skipped == 0);
}

TEST_CASE("a trace does not differ from itself") {
  const bool ranges = GENERATE(true, false);
  const TraceDiff diff = compare({.ranges = ranges}, {.ranges = ranges});
  CHECK(diff.aligned_by == (ranges ? "step_*" : ""));
  for (const DiffItem& same : diff.items) {
    INFO(same.name);
    CHECK(same.verdict == DiffVerdict::kSame);
    CHECK(same.change == 0);
  }
}

TEST_CASE("two runs of the same program differ by noise only") {
  int changes = 0, items = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const TraceDiff diff = compare({.seed = seed}, {.seed = seed + 1'000});
    for (const DiffItem& noisy : diff.items) {
      ++items;
      changes += noisy.verdict != DiffVerdict::kSame && !noisy.is_too_noisy();
    }
  }
  INFO(changes << " of " << items);
  CHECK(changes <= items * 3 / 100);  // the interval allows one in a hundred
}

TEST_CASE("what was changed is found, with its size, and nothing else") {
  const TraceDiff diff = compare({.seed = 1, .noise = 0.02}, {.seed = 2, .kernel = kMillisecond * 110 / 100, .noise = 0.02});
  CHECK(diff.first_iterations == 60);
  const DiffItem& kernel = item(diff, DiffKind::kKernel, "train(float*)");
  CHECK(kernel.verdict == DiffVerdict::kMore);
  CHECK(kernel.change == Approx(10).margin(1.5));
  CHECK(kernel.change_low < kernel.change);
  CHECK(kernel.change_high > kernel.change);
  CHECK(kernel.first.count == 60);
  CHECK(kernel.first.per_iteration == Approx(1e6).epsilon(0.02));
  CHECK(item(diff, DiffKind::kGpuBusy, "GPU busy").verdict == DiffVerdict::kMore);
  CHECK(item(diff, DiffKind::kRange, "load").verdict == DiffVerdict::kSame);
  const DiffItem& reading = item(diff, DiffKind::kGpuIdle, "Waiting for input or output");  // the first iteration has none of it
  CHECK((reading.verdict == DiffVerdict::kSame || reading.is_too_noisy()));
}

TEST_CASE("what noise may hide is not called the same, and a limit that it may break can't be told") {
  const TraceDiff noisy = compare({.seed = 1, .iterations = 6, .noise = 0.5}, {.seed = 2, .iterations = 6, .noise = 0.5});
  const DiffItem& kernel = item(noisy, DiffKind::kKernel, "train(float*)");
  REQUIRE(kernel.change_low < -20);  // six samples with 50 % noise
  CHECK(kernel.verdict == DiffVerdict::kUnsure);
  CHECK(kernel.is_too_noisy());
  const DiffItem& busy = item(noisy, DiffKind::kGpuBusy, "GPU busy");
  CHECK(judge(*parse_diff_limit("5%"), busy) == LimitVerdict::kUnsure);
  const TraceDiff quiet = compare({.seed = 1, .noise = 0.01}, {.seed = 2, .noise = 0.01});
  const DiffItem& same = item(quiet, DiffKind::kGpuBusy, "GPU busy");
  CHECK(same.verdict == DiffVerdict::kSame);
  CHECK(judge(*parse_diff_limit("5%"), same) == LimitVerdict::kKept);
}

TEST_CASE("growth by exactly what is allowed is not more than is allowed") {
  const auto busy = [](Nanoseconds kernel) {
    Scenario program;
    for (int step = 0; step < 30; ++step) {
      const Nanoseconds t = step * kMillisecond;
      program.range("step " + std::to_string(step), t, t + kMillisecond - 1);
      program.kernel("k", t, t + 5'000, t + 10'000, t + 10'000 + kernel);
    }
    return program.trace();
  };
  const TraceDiff diff = compare_traces(*busy(200'000), *busy(210'000)).value();
  const DiffItem& growth = item(diff, DiffKind::kGpuBusy, "GPU busy");
  CHECK(growth.verdict == DiffVerdict::kMore);
  CHECK(judge(*parse_diff_limit("5%"), growth) == LimitVerdict::kKept);
  CHECK(judge(*parse_diff_limit("4.999%"), growth) == LimitVerdict::kExceeded);
}

TEST_CASE("a faster loader shows as less idle time of its cause and shorter iterations") {
  const TraceDiff diff = compare({.seed = 1}, {.seed = 2, .loading = kMillisecond / 2});
  CHECK(diff.items.front().kind == DiffKind::kDuration);
  CHECK(diff.items.front().verdict == DiffVerdict::kLess);
  CHECK(diff.items.front().change == Approx(100 * (1.53 / 3.03 - 1)).margin(2));
  const DiffItem& reading = item(diff, DiffKind::kGpuIdle, "Waiting for input or output");
  CHECK(reading.verdict == DiffVerdict::kLess);
  CHECK(reading.difference() == Approx(-1.5e6).epsilon(0.05));
}

TEST_CASE("iterations are compared one by one, however many each trace has") {
  const TraceDiff diff = compare({.seed = 1, .iterations = 30}, {.seed = 2, .iterations = 90});
  CHECK(diff.first_iterations == 30);
  CHECK(diff.second_iterations == 90);
  CHECK(item(diff, DiffKind::kKernel, "train(float*)").verdict == DiffVerdict::kSame);
  CHECK(compare({.iterations = 30}, {.iterations = 90}, {.range = "step_7", .skip = 10}).second_iterations == 80);
}

TEST_CASE("too few iterations can't be told from noise, and say so") {
  const TraceDiff diff = compare({.seed = 1, .iterations = 3}, {.seed = 2, .iterations = 3, .kernel = 2 * kMillisecond});
  CHECK(item(diff, DiffKind::kKernel, "train(float*)").verdict == DiffVerdict::kUnsure);
  const DiffItem& busy = item(diff, DiffKind::kGpuBusy, "GPU busy");
  CHECK(busy.change > 50);
  CHECK(judge(*parse_diff_limit("5%"), busy) == LimitVerdict::kUnsure);  // as if noise may hide a change: a limit fails only for what exceeds noise
  CHECK(judge(*parse_diff_limit("5000%"), busy) == LimitVerdict::kKept);
  const TraceDiff whole = compare({.seed = 1, .iterations = 3, .ranges = false}, {.seed = 2, .iterations = 3, .kernel = 4 * kMillisecond, .ranges = false});
  REQUIRE(!whole.by_iteration());
  CHECK(whole.items.front().change > 5);
  CHECK(judge(*parse_diff_limit("5%"), whole.items.front()) == LimitVerdict::kUnsure);  // measured once on each side
}

TEST_CASE("what is in one trace only says so") {
  Scenario second;
  for (int i = 0; i < 10; ++i) second.kernel("other()", i * 1'000, i * 1'000 + 10, i * 1'000 + 20, i * 1'000 + 500);
  const Result<TraceDiff> diff = compare_traces(*trace_of({.ranges = false}), *second.trace());
  REQUIRE(diff.has_value());
  CHECK(item(*diff, DiffKind::kKernel, "train(float*)").verdict == DiffVerdict::kOnlyFirst);
  CHECK(item(*diff, DiffKind::kKernel, "other()").verdict == DiffVerdict::kOnlySecond);
}

TEST_CASE("which work repeats does not depend on the order in which names were recorded") {
  constexpr int kNames = 100, kTimes = 10;  // more names than are tried, and each is equally frequent
  const auto name = [](int i) { return "kernel" + std::to_string(100 + i); };
  const auto recorded = [&](bool from_the_last) {
    Scenario scenario;
    for (int i = 0; i < kNames; ++i) (void)scenario.builder()->intern(name(from_the_last ? kNames - 1 - i : i));
    for (int time = 0; time < kTimes; ++time)
      for (int i = 0; i < kNames; ++i) {
        const Nanoseconds start = (time * kNames + i) * Nanoseconds{1'000};
        scenario.kernel(name(i), start, start + 10, start + 100, start + 900);
      }
    return scenario.trace();
  };
  const auto first = recorded(false), second = recorded(true);
  CHECK(compare_traces(*first, *second).value().repeating_work == "kernel100");
  CHECK(compare_traces(*second, *first).value().repeating_work == "kernel100");
}

TEST_CASE("where no range marks iterations, a kernel that comes at regular times does") {
  const TraceDiff diff = compare({.loading = 4 * kMillisecond, .ranges = false}, {.seed = 9, .iterations = 40, .ranges = false});
  CHECK(diff.aligned_by.empty());
  CHECK(diff.repeating_work == "train(float*)");
  CHECK(diff.first_iterations == 59);  // from each launch to the next
  CHECK(diff.second_iterations == 39);
  const DiffItem& duration = item(diff, DiffKind::kDuration, "Iteration");
  CHECK(duration.verdict == DiffVerdict::kLess);
  CHECK(duration.difference() == Approx(-2.0 * kMillisecond).epsilon(0.1));
  CHECK(item(diff, DiffKind::kGpuIdle, "Waiting for input or output").difference() == Approx(-2.0 * kMillisecond).epsilon(0.1));
  CHECK(item(diff, DiffKind::kGpuBusy, "GPU busy").verdict == DiffVerdict::kSame);
  CHECK(item(diff, DiffKind::kKernel, "train(float*)").first.count == 59);
}

TEST_CASE("what a trace of PyTorch's profiler repeats is compared") {
  const auto steps = [](int count) {
    Scenario program;
    program.builder()->provenance().producer = "PyTorch Profiler";
    for (int step = 0; step < count; ++step) {
      const Nanoseconds t = step * kMillisecond;
      program.kernel("alpha", t + 10'000, t + 15'000, t + 20'000, t + 120'000);
      program.kernel("beta", t + 300'000, t + 305'000, t + 310'000, t + 410'000);
    }
    return program.trace();
  };
  const auto first = steps(30), second = steps(60);
  const TraceDiff diff = compare_traces(*first, *second).value();
  CHECK(diff.repeating_work == "alpha");
  CHECK(diff.first_iterations == 29);
  CHECK(diff.second_iterations == 59);
  CHECK(diff.items.front().first.per_iteration == kMillisecond);
  CHECK(diff.items.front().second.per_iteration == kMillisecond);
}

TEST_CASE("the mean of idle time does not depend on how many steps there are, though nothing is idle in front of the first") {
  // Each step is idle for 800 us of 1,000, most of it behind its range; the GPU's first operation has no idle time in front of it.
  const auto steps = [](int count) {
    Scenario program;
    for (int step = 0; step < count; ++step) {
      const Nanoseconds t = step * kMillisecond;
      program.range("step " + std::to_string(step), t, t + 990'000);
      program.kernel("alpha", t + 10'000, t + 15'000, t + 20'000, t + 120'000);
      program.kernel("beta", t + 300'000, t + 305'000, t + 310'000, t + 410'000);
    }
    return program.trace();
  };
  const auto skip = GENERATE(std::size_t{0}, std::size_t{2});
  const TraceDiff diff = compare_traces(*steps(10), *steps(100), {.skip = skip}).value();
  const DiffItem& idle = item(diff, DiffKind::kGpuIdle, "GPU idle");
  CHECK(idle.first.per_iteration == 800'000);
  CHECK(idle.second.per_iteration == 800'000);
  CHECK(idle.verdict == DiffVerdict::kSame);
}

TEST_CASE("where no range marks iterations, they take the time of the GPU, and the loading of a kernel belongs to none") {
  const auto ahead = [](int iterations) {  // a launch every 10 us, of kernels of 500 us; the first launch takes 600 ms
    Scenario program;
    constexpr Nanoseconds kLoaded = 600 * kMillisecond;
    for (int i = 0; i < iterations; ++i) {
      const Nanoseconds call = i == 0 ? 0 : kLoaded + i * 10'000, begin = kLoaded + 5'000 + i * 502'000;
      program.kernel("k", call, i == 0 ? kLoaded : call + 5'000, begin, begin + 500'000);
    }
    return program.trace();
  };
  const Result<TraceDiff> diff = compare_traces(*ahead(40), *ahead(60));
  REQUIRE(diff);
  CHECK(diff->first_iterations == 38);
  CHECK(diff->second_iterations == 58);
  CHECK(diff->first_skipped == 1);
  CHECK(item(*diff, DiffKind::kDuration, "Iteration").first.per_iteration == Approx(502'000));
  CHECK(item(*diff, DiffKind::kGpuBusy, "GPU busy").first.per_iteration == Approx(500'000));
  CHECK(item(*diff, DiffKind::kGpuIdle, "GPU idle").first.per_iteration == Approx(2'000));
  CHECK(item(*diff, DiffKind::kApi, "cudaLaunchKernel").first.per_iteration == Approx(5'000));
}

TEST_CASE("of an even number of iterations, those that warm up are told by the time midway between the two in the middle") {
  Scenario program;  // 10 and 20 ms in the middle: 15; from 22.5 on the first iteration warms up
  Nanoseconds begin = 0;
  for (const Nanoseconds length : {26, 20, 10, 20, 10, 20, 10, 10}) {
    program.range("step_" + std::to_string(begin), begin, begin + length * kMillisecond);
    program.kernel("k", begin, begin + 5'000, begin + 5'000, begin + 10'000);
    begin += length * kMillisecond;
  }
  const Result<TraceDiff> diff = compare_traces(*program.trace(), *program.trace());
  REQUIRE(diff);
  CHECK(diff->first_skipped == 1);
  CHECK(diff->first_iterations == 7);
}

TEST_CASE("what reading counters of kernels took is no time of the program") {
  const auto run = [](Nanoseconds replay) {
    Scenario program;
    for (std::uint32_t i = 0; i < 10; ++i) {
      const Nanoseconds t = i * 300 * kMillisecond;
      program.range("step_" + std::to_string(i), t, t + 10 * kMillisecond + replay);
      program.range("train", t, t + 4 * kMillisecond + replay, 1);
      program.kernel("k", t + kMillisecond, t + 2 * kMillisecond + replay, t + kMillisecond, t + 2 * kMillisecond);
      program.builder()->add(MeasuredLaunch{program.process(), i + 1, KernelReplay::kKernel, 3, {}, 0, {}});
    }
    program.kernel("last", 3'000 * kMillisecond, 3'001 * kMillisecond, 3'001 * kMillisecond, 3'002 * kMillisecond);
    return program.trace();
  };
  const Result<TraceDiff> diff = compare_traces(*run(100 * kMillisecond), *run(200 * kMillisecond));
  REQUIRE(diff);
  for (const auto side : {&DiffItem::first, &DiffItem::second}) {
    CHECK((item(*diff, DiffKind::kDuration, "Iteration").*side).per_iteration == Approx(10 * kMillisecond));
    CHECK((item(*diff, DiffKind::kRange, "train").*side).per_iteration == Approx(4 * kMillisecond));
    CHECK((item(*diff, DiffKind::kApi, "cudaLaunchKernel").*side).per_iteration == Approx(kMillisecond));
  }
  CHECK(item(*diff, DiffKind::kDuration, "Iteration").verdict == DiffVerdict::kSame);
  CHECK(std::none_of(diff->items.begin(), diff->items.end(), [](const DiffItem& each) { return each.name == "Profiler overhead"; }));
}

TEST_CASE("whole traces count everything once") {
  const Loop irregular{.ranges = false, .stray = kMillisecond};
  const TraceDiff diff = compare(irregular, {.seed = 9, .ranges = false, .stray = kMillisecond});
  CHECK_FALSE(diff.by_iteration());
  CHECK(item(diff, DiffKind::kKernel, "train(float*)").first.count == 60);
  CHECK(item(diff, DiffKind::kApi, "cudaLaunchKernel").second.count == 60);
  const auto trace = trace_of(irregular);
  CHECK(item(diff, DiffKind::kDuration, "Trace").first.total == Approx(trace->extent().length()).margin(0.5));
  const DiffItem& busy = item(diff, DiffKind::kGpuBusy, "GPU busy");
  CHECK(busy.first.total == item(diff, DiffKind::kKernel, "train(float*)").first.total);  // the kernels do not overlap
}

TEST_CASE("a range that is not there is an error that names the trace") {
  const auto with = trace_of({}), without = trace_of({.ranges = false});
  CHECK_THAT(compare_traces(*with, *without, {.range = "step"}).error().text, contains_text("no NVTX range step"));
  CHECK_THAT(compare_traces(*with, *without, {.range = "step_1"}).error().text, contains_text("The second trace has no NVTX range step_1"));
  CHECK_THAT(compare_traces(*with, *with, {.skip = 60}).error().text, contains_text("skip fewer"));
}

TEST_CASE("work belongs to the iteration that enqueued it, however late the GPU comes to it") {
  const auto loop = [](Nanoseconds kernel) {
    Scenario program;
    Nanoseconds gpu = 1'000'000;  // long after all work was enqueued
    for (int i = 0; i < 20; ++i) {
      program.range("step_" + std::to_string(i), i * 1'000, i * 1'000 + 900);
      program.kernel("work()", i * 1'000 + 10, i * 1'000 + 400, gpu, gpu + kernel);
      gpu += kernel + 50'000;
    }
    return program.trace();
  };
  const Result<TraceDiff> diff = compare_traces(*loop(kMillisecond), *loop(2 * kMillisecond));
  REQUIRE(diff.has_value());
  const DiffItem& busy = item(*diff, DiffKind::kGpuBusy, "GPU busy");
  CHECK(busy.first.total == 20 * kMillisecond);
  CHECK(busy.change == Approx(100));
  CHECK(busy.verdict == DiffVerdict::kMore);
  const DiffItem& waiting = item(*diff, DiffKind::kGpuIdle, "Enqueued, waiting on the GPU");
  CHECK(waiting.first.total == 19 * 50'000);
  CHECK(waiting.verdict == DiffVerdict::kSame);
}

namespace {

// A process with steps of 1 ms, with one kernel each; the steps are named by their numbers, from `first_step` on.
void add_rank(const std::shared_ptr<TraceBuilder>& builder, std::uint32_t pid, int first_step, int end_step, Nanoseconds begin) {
  Scenario rank(builder, pid);
  rank.on_gpu(pid % 100);
  for (int step = first_step; step < end_step; ++step) {
    const Nanoseconds t = begin + step * kMillisecond;
    rank.range("step " + std::to_string(step), t, t + 900'000);
    rank.kernel("work()", t + 10, t + 400, t + 1'000, t + 1'000 + 1'000 * step);
  }
}

}  // namespace

TEST_CASE("the same step of several ranks is one sample, also where one rank's first steps were not recorded") {
  auto builder = std::make_shared<TraceBuilder>();
  add_rank(builder, 100, 0, 40, 0);
  add_rank(builder, 101, 0, 40, 5'000);
  add_rank(builder, 102, 6, 40, 0);
  const auto trace = builder->snapshot();
  const auto diff = compare_traces(*trace, *trace, {.skip = 0});
  REQUIRE(diff);
  CHECK(diff->first_iterations == 34);
  CHECK(item(*diff, DiffKind::kDuration, "Iteration").first.count == 3 * 34);
  CHECK(item(*diff, DiffKind::kDuration, "Iteration").first.per_iteration == 900'000);
  CHECK(item(*diff, DiffKind::kKernel, "work()").first.per_iteration == Approx((6 + 39) / 2.0 * 1'000));
}

TEST_CASE("programs that ran one after the other have iterations of their own, and so do those with other steps") {
  auto builder = std::make_shared<TraceBuilder>();
  add_rank(builder, 100, 0, 40, 0);
  SECTION("one after the other") { add_rank(builder, 101, 0, 40, 100 * kMillisecond); }
  SECTION("with other steps") { add_rank(builder, 101, 1'000, 1'010, -980 * kMillisecond); }
  const auto trace = builder->snapshot();
  const auto diff = compare_traces(*trace, *trace, {.skip = 0});
  REQUIRE(diff);
  CHECK(diff->first_iterations == item(*diff, DiffKind::kDuration, "Iteration").first.count);
}

TEST_CASE("of several runs, a trace without the range is named") {
  const std::vector<std::shared_ptr<const Trace>> with{trace_of({}), trace_of({.seed = 2})}, one_without{trace_of({}), trace_of({.ranges = false})};
  CHECK_THAT(compare_runs(with, one_without, {.range = "step_1"}).error().text, contains_text("Trace 2 of B has no NVTX range step"));
  CHECK(compare_runs(with, one_without).value().repeating_work == "train(float*)");
}

TEST_CASE("of very many kernels, those whose times differ most are told from noise") {
  constexpr std::size_t kMore = 500, kNames = TraceDiff::kMostJudged + kMore;
  const auto made = [](Nanoseconds longer, Nanoseconds of_one) {
    auto builder = std::make_shared<TraceBuilder>();
    const ProcessId process = builder->process_of_instance(100);
    const TrackKey key{.kind = TrackKind::kKernels, .process = process, .gpu = builder->gpu_of_device(process, 0)};
    std::vector<NameId> names;
    for (std::size_t i = 0; i < kNames; ++i) names.push_back(builder->intern("kernel" + std::to_string(i)));
    std::vector<Event> events;
    for (Nanoseconds t = 0; t < 4'000'000'000; t += 1'000'000'000)
      for (std::size_t i = 0; i < kNames; ++i) {
        // Some of the smallest kernels take as long as before.
        const Nanoseconds more = i == 17 ? of_one : i < kMore / 5 ? 0 : i < kMore ? longer / 2 : longer;
        events.push_back({t + static_cast<Nanoseconds>(i) * 40'000, 1'000 + more, names[i], 0, 0});
      }
    builder->add(key, events);
    return builder->snapshot();
  };
  const Result<TraceDiff> diff = compare_traces(*made(0, 0), *made(10, 20'000));
  REQUIRE(diff.has_value());
  REQUIRE_FALSE(diff->by_iteration());
  CHECK_FALSE(item(*diff, DiffKind::kKernel, "kernel17").was_left_out);
  CHECK_FALSE(std::isnan(item(*diff, DiffKind::kKernel, "kernel17").change_low));
  CHECK(item(*diff, DiffKind::kKernel, "kernel18").verdict == DiffVerdict::kSame);  // among the kernels that are not judged, and unchanged
  CHECK(item(*diff, DiffKind::kKernel, "kernel" + std::to_string(kMore - 1)).verdict == DiffVerdict::kUnsure);
  CHECK(item(*diff, DiffKind::kKernel, "kernel" + std::to_string(kMore - 1)).was_left_out);
  std::size_t judged = 0, kernels = 0;
  for (const DiffItem& one : diff->items) {
    const bool is_cause = one.kind == DiffKind::kGpuIdle && one.name != "GPU idle";  // causes of idle time are judged together with kernels
    kernels += one.kind == DiffKind::kKernel ? 1 : 0;
    judged += (one.kind == DiffKind::kKernel || is_cause) && !std::isnan(one.change_low) ? 1 : 0;
  }
  CHECK(kernels == kNames);
  CHECK(judged == TraceDiff::kMostJudged);
}

TEST_CASE("times are summed in each sample, in whatever order they come") {
  constexpr std::size_t kSamples = 200;
  Scenario program;
  program.call("cudaFree", 0, 1'000);
  const auto trace = program.trace();
  const auto samples = analysis::Samples::of_slices(*trace, kSamples);
  std::mt19937 random(5);
  TimeBySample summed, in_order;
  std::vector<double> expected(kSamples);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t sample = random() % kSamples / 2;  // the second half has none
    const double time = static_cast<double>(random() % 1'000);
    expected[sample] += time;
    summed.add(sample, time);
  }
  for (std::size_t i = 0; i < kSamples; ++i) in_order.add(i, expected[i]);
  summed.finish(samples);
  in_order.finish(samples);
  std::vector<double> series(kSamples, -1);
  summed.write_to(series);
  CHECK(series == expected);
  CHECK(summed == in_order);
  CHECK(summed.sum() == std::accumulate(expected.begin(), expected.end(), 0.0));
}

TEST_CASE("work of another program on the GPU takes no time from the work that is compared") {
  const auto loop = [](bool with_neighbour) {
    const auto builder = std::make_shared<TraceBuilder>();
    Gpu shared;
    shared.uuid = "0123456789abcdef";
    Scenario program(builder, 100), neighbour(builder, 200);
    builder->set_device(program.process(), 0, shared);
    builder->set_device(neighbour.process(), 0, shared);
    program.on_gpu(0);
    neighbour.on_gpu(0);
    for (int i = 0; i < 20; ++i) {
      const Nanoseconds t = i * 10 * kMillisecond;
      program.range("step_" + std::to_string(i), t, t + 9 * kMillisecond);
      program.kernel("work()", t + kMillisecond, t + kMillisecond + 10'000, t + 2 * kMillisecond, t + 6 * kMillisecond);
      if (with_neighbour) neighbour.orphan_kernel("other()", t + kMillisecond, t + 5 * kMillisecond);
    }
    return program.trace();
  };
  const Result<TraceDiff> diff = compare_traces(*loop(true), *loop(false));
  REQUIRE(diff);
  const DiffItem& busy = item(*diff, DiffKind::kGpuBusy, "GPU busy");
  CHECK(busy.first.per_iteration == Approx(4 * kMillisecond));
  CHECK(busy.second.per_iteration == Approx(4 * kMillisecond));
  CHECK(busy.verdict == DiffVerdict::kSame);
}
