// How the time of a step is divided, by the ranges of the program.
#include <map>
#include <string>

#include "answers.h"
#include "model/analysis/rule.h"
#include "model/trace/trace_builder.h"
#include "rules/step_breakdown.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

TEST_CASE("a step's time is broken down by its ranges") {
  Scenario program;
  program.range("step", 0, 1'000, 0);
  program.range("forward", 0, 400, 1);
  program.range("backward", 400, 900, 1);
  program.kernel("f", 100, 110, 500, 700);
  program.kernel("f", 120, 130, 800, 900);
  program.kernel("ncclDevKernel_AllReduce", 500, 510, 850, 1'500, 20);
  const RuleAnswer steps = answer(*program.trace(), "step_breakdown");
  const stats::Table& table = table_named(steps, "step_breakdown");
  REQUIRE(table.row_count() == 3);
  CHECK(text(table, 0, "NVTX Range") == "step");
  CHECK(integer(table, 0, "CPU Time") == 1'000);
  CHECK(integer(table, 0, "GPU Projected") == 1'000);  // 500 to 1500
  CHECK(integer(table, 0, "GPU Idle Inside") == 100);  // 700 to 800
  CHECK(integer(table, 0, "Communication") == 650);
  CHECK(text(table, 2, "NVTX Range") == "forward");
  CHECK(integer(table, 2, "GPU Projected") == 400);
  CHECK(integer(table, 2, "GPU Idle Inside") == 100);
  CHECK(integer(table, 2, "Operations") == 2);
}

TEST_CASE("a range within another one of its name adds no time to it, however deep it lies") {
  Scenario program;
  program.range("f", 0, 1'000, 0);
  program.range("f", 100, 600, 1);
  program.range("g", 150, 500, 2);
  program.range("f", 200, 300, 3);
  program.range("f", 2'000, 2'100, 0);
  program.kernel("k", 210, 220, 300, 700);
  const RuleAnswer steps = answer(*program.trace(), "step_breakdown");
  const stats::Table& table = table_named(steps, "step_breakdown");
  REQUIRE(table.row_count() == 2);
  CHECK(text(table, 0, "NVTX Range") == "f");
  CHECK(integer(table, 0, "CPU Time") == 1'100);
  CHECK(integer(table, 0, "Ranges") == 4);
  CHECK(integer(table, 0, "Operations") == 1);
  CHECK(integer(table, 0, "GPU Projected") == 400);
  CHECK(integer(table, 1, "CPU Time") == 350);
  CHECK(integer(table, 1, "Operations") == 1);
}

TEST_CASE("steps that warm up, and what lies in them, add nothing to a step's time") {
  Scenario program;
  Nanoseconds t = 1'000'000;
  program.range("run", 0, 8'000'000, 0);
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds length = i < 2 ? 1'000'000 : 100'000;
    program.range("step " + std::to_string(i), t, t + length, 1);
    program.range("forward", t, t + length / 2, 2);
    program.kernel("k", t + 1'000, t + 2'000, t + 10'000, t + 10'000 + length / 10);
    t += length;
  }
  const RuleAnswer steps = answer(*program.trace(), "step_breakdown");
  const stats::Table& table = table_named(steps, "step_breakdown");
  REQUIRE(table.row_count() == 3);
  CHECK(text(table, 0, "NVTX Range") == "run");
  CHECK(integer(table, 0, "Operations") == 20);  // it is no part of the warm-up
  CHECK(text(table, 1, "NVTX Range") == "step *");
  CHECK(integer(table, 1, "Ranges") == 18);
  CHECK(integer(table, 1, "CPU Time") == 18 * 100'000);
  CHECK(integer(table, 1, "GPU Projected") == 18 * 10'000);
  CHECK(integer(table, 1, "Operations") == 18);
  CHECK(text(table, 2, "NVTX Range") == "forward");
  CHECK(integer(table, 2, "CPU Time") == 18 * 50'000);
}

TEST_CASE("ranges of one name in two domains are two rows, and the one of the default domain keeps its name") {
  Scenario program;
  program.builder()->set_domain(program.process(), 5, "loader");
  program.range("step 1", 0, 1'000);
  program.range("step 2", 1'000, 2'000);
  program.range("step 3", 0, 100, 0, 5);
  program.range("read", 100, 150, 0, 5);
  const RuleAnswer steps = answer(*program.trace(), "step_breakdown");
  const stats::Table& table = table_named(steps, "step_breakdown");
  REQUIRE(table.row_count() == 3);
  CHECK(text(table, 0, "NVTX Range") == "step *");
  CHECK(integer(table, 0, "Ranges") == 2);
  CHECK(integer(table, 0, "CPU Time") == 2'000);
  CHECK(text(table, 1, "NVTX Range") == "step *@loader");
  CHECK(integer(table, 1, "CPU Time") == 100);
  CHECK(text(table, 2, "NVTX Range") == "read");
}

TEST_CASE("of a chosen time, a step's time has the ranges and the GPU work that begin in it") {
  Scenario program;
  program.range("before", 0, 90);
  program.range("step", 100, 1'000);
  program.kernel("f", 110, 120, 200, 300);
  program.kernel("f", 10, 20, 600, 650);    // from a range that starts earlier
  program.kernel("f", 130, 140, 700, 900);  // runs past the end of the time
  program.kernel("f", 150, 160, 900, 950);
  const std::vector<RuleRequest> asked{*parse_rule("step_breakdown")};
  const Result<std::vector<RuleAnswer>> steps = apply_rules(*program.trace(), asked, {}, TimeRange{100, 800});
  REQUIRE(steps);
  const stats::Table& table = table_named(steps->front(), "step_breakdown");
  REQUIRE(table.row_count() == 1);
  CHECK(text(table, 0, "NVTX Range") == "step");
  CHECK(integer(table, 0, "Operations") == 2);
  CHECK(integer(table, 0, "GPU Projected") == 700);    // 200 to 900
  CHECK(integer(table, 0, "GPU Idle Inside") == 350);  // except 600 to 650
}

TEST_CASE("a step's time is the same whether all ranges are worked on at once or in turns") {
  constexpr std::uint32_t kSteps = 150'000;  // more than two segments of a lane can hold
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const auto key_of = [&](TrackKind kind) {
    TrackKey key{kind, process};
    if (is_gpu_work(kind))
      key.gpu = builder.gpu_of_device(process, 0);
    else
      key.thread = builder.thread(process, 1);
    return key;
  };
  const NameId epoch = builder.intern("epoch"), step = builder.intern("step"), launch = builder.intern("cudaLaunchKernel"), kernel = builder.intern("gemm"),
               collective = builder.intern("ncclDevKernel_AllReduce");
  std::vector<Event> ranges{{0, Nanoseconds{kSteps} * 1'000, epoch, 0, 0}}, calls, kernels;
  std::vector<std::uint32_t> depths{0};
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    const Nanoseconds t = Nanoseconds{i} * 1'000;
    ranges.push_back({t, 900, step, 0, 0});
    depths.push_back(1);
    // The second call's work starts three steps later, sometimes in another segment.
    calls.push_back({t + 100, 50, launch, 2 * i + 1, 0});
    calls.push_back({t + 200, 50, launch, 2 * i + 2, 0});
    kernels.push_back({t + 300, 200, kernel, 2 * i + 1, 0});
    kernels.push_back({t + 3'600, 100, collective, 2 * i + 2, 0});
  }
  builder.add(key_of(TrackKind::kNvtxRanges), std::move(ranges), depths);
  builder.add(key_of(TrackKind::kCudaApi), std::move(calls));
  builder.add(key_of(TrackKind::kKernels), std::move(kernels));
  const auto trace = builder.snapshot();
  const auto sums_of = [&](std::size_t ranges_at_once) {
    Families families(*trace);
    std::map<std::string, FamilySum> by_text;
    const auto sums = sum_steps(RuleContext{.trace = *trace}, families, ranges_at_once);
    REQUIRE(sums);
    for (const auto& [family, sum] : *sums) by_text[families.text(family.first)] = sum;
    return by_text;
  };
  for (const std::size_t ranges_at_once : {std::size_t{1}, std::size_t{100'000}, kRangesAtOnce}) {
    const std::map<std::string, FamilySum> sums = sums_of(ranges_at_once);
    REQUIRE(sums.size() == 2);
    const FamilySum& steps = sums.at("step");
    CHECK(steps.ranges == kSteps);
    CHECK(steps.operations == 2 * kSteps);
    CHECK(steps.cpu == Nanoseconds{kSteps} * 900);
    CHECK(steps.projected == Nanoseconds{kSteps} * 3'400);  // from 300 to 3,700
    CHECK(steps.communication == Nanoseconds{kSteps} * 100);
    // In these 3,400 ns, kernels of this step and the next three run for 800 ns, collectives of earlier steps for 300 ns (the first three steps have fewer),
    // and the step's own collective for 100 ns; after the last kernels, there are fewer.
    CHECK(steps.idle == Nanoseconds{kSteps} * 2'200 + 6 * 100 + 6 * 200);
    const FamilySum& all = sums.at("epoch");
    CHECK(all.operations == 2 * kSteps);
    CHECK(all.projected == Nanoseconds{kSteps - 1} * 1'000 + 3'400);
    CHECK(all.idle == all.projected - Nanoseconds{kSteps} * 300);
  }
}
