// Rules: traces with one known fault each, and what the rule for it says.
#include <algorithm>
#include <set>

#include "../../../model/analysis/rules/step_breakdown.h"
#include "answers.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/combining/combine.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using lanescope::test::answer;
using lanescope::test::findings;
using lanescope::test::integer;
using lanescope::test::kMicrosecond;
using lanescope::test::kMillisecond;
using lanescope::test::Scenario;
using lanescope::test::table_named;
using lanescope::test::text;

TEST_CASE("kernels of setup are paid once, whatever they could save, and those of the loop come first with shares of the loop") {
  Scenario program;
  const auto shape = [](std::uint32_t blocks) {
    KernelDetail detail;
    detail.grid[0] = blocks;
    detail.grid[1] = detail.grid[2] = detail.block[1] = detail.block[2] = 1;
    detail.block[0] = 256;
    detail.registers_per_thread = 32;
    return detail;
  };
  const auto launch = [&](const std::string& name, std::uint32_t blocks, Nanoseconds begin, Nanoseconds length) {
    program.shaped_kernel(name, shape(blocks), begin, begin + length);
  };
  launch("init_tables()", 8, 0, 1'000 * kMillisecond);
  launch("sgemm_128x64_nn", 1'056, 1'001 * kMillisecond, 500 * kMillisecond);
  launch("both()", 33, 1'502 * kMillisecond, 100 * kMillisecond);
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds t = (2'000 + step * 10) * kMillisecond;
    program.range("step " + std::to_string(step), t, t + 10 * kMillisecond);
    launch("work()", 1'056, t, 4 * kMillisecond);
    launch("both()", 33, t + 5 * kMillisecond, kMillisecond);
  }
  const auto trace = program.trace();
  const std::vector<Finding> grids = answer(*trace, "small_grid").findings;
  REQUIRE(grids.size() == 2);
  CHECK_THAT(grids[0].title, contains_text("Kernel both() has 33 blocks"));
  CHECK(grids[0].recurrence == Recurrence::kRecurring);
  CHECK(grids[0].cost == 20 * kMillisecond * 3 / 4);  // of the loop's 20 runs, with a block on a fourth of 132 multiprocessors
  CHECK_THAT(grids[1].title, contains_text("Kernel init_tables() has 8 blocks"));
  CHECK(grids[1].recurrence == Recurrence::kOnce);
  const std::vector<Finding> products = answer(*trace, "fp32_products").findings;
  REQUIRE(products.size() == 1);
  CHECK(products[0].recurrence == Recurrence::kOnce);
  const std::vector<Finding> all = findings(*trace);
  REQUIRE(all.size() > 3);
  CHECK(std::is_sorted(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.recurrence < b.recurrence; }));
  CHECK(all.front().recurrence == Recurrence::kRecurring);
}

TEST_CASE("a slow loader is found first, with the range that loads") {
  Scenario program;
  for (int step = 0; step < 6; ++step) {
    const Nanoseconds t = step * 12 * kMillisecond;
    program.range("step_" + std::to_string(step), t, t + 11 * kMillisecond, 0);
    program.range("load batch", t, t + 10 * kMillisecond, 1);
    program.kernel("train", t + 10 * kMillisecond, t + 10 * kMillisecond + 5'000, t + 10 * kMillisecond + 8'000, t + 11 * kMillisecond);
  }
  const auto trace = program.trace();
  const std::vector<Finding> found = findings(*trace);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].rule == "gpu_bubbles");
  CHECK(found[0].key == "cpu_code");
  CHECK_THAT(found[0].title, contains_text("load batch"));
  CHECK(found[0].cost == 5 * 11 * kMillisecond);  // 10 ms in the range and 1 ms outside of it, five times
  const RuleAnswer bubbles = answer(*trace, "gpu_bubbles");
  const stats::Table& groups = table_named(bubbles, "gpu_bubbles");
  CHECK(text(groups, 0, "NVTX Range") == "load batch");
  CHECK(text(groups, 0, "Cause") == "Running CPU code");
  CHECK(integer(groups, 0, "Total Time") == 5 * 10 * kMillisecond);
  CHECK(integer(groups, 0, "Parts") == 5);
}

TEST_CASE("what GPUs did for a range is the same wherever time 0 lies") {
  const auto times = [](Nanoseconds begin) {
    Scenario program;
    for (int step = 0; step < 6; ++step) {
      const Nanoseconds t = begin + step * 10 * kMillisecond;
      program.range("step " + std::to_string(step), t, t + 9 * kMillisecond);
      program.kernel("k", t + kMillisecond, t + kMillisecond + 5'000, t + 2 * kMillisecond, t + 5 * kMillisecond);
    }
    const RuleAnswer steps = answer(*program.trace(), "step_breakdown");
    return integer(table_named(steps, "step_breakdown"), 0, "GPU Projected");
  };
  CHECK(times(0) == 6 * 3 * kMillisecond);
  CHECK(times(-1'000 * kMillisecond) == 6 * 3 * kMillisecond);  // as of one of several recordings, which began before the first that is named
}

TEST_CASE("setup and warm-up are told apart from the loop, and ranked behind it") {
  Scenario program;
  program.kernel("initialise", 0, 10, 20, kMillisecond);
  Nanoseconds t = 900 * kMillisecond;  // long before the loop
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds loading = step == 0 ? 400 * kMillisecond : 2 * kMillisecond;
    program.range("step_" + std::to_string(step), t, t + loading + kMillisecond);
    program.os_call("read", t, t + loading);
    program.kernel("train", t + loading, t + loading + 5'000, t + loading + 8'000, t + loading + kMillisecond);
    t += loading + kMillisecond;
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE(bubbles.findings.size() == 2);
  CHECK(bubbles.findings[0].key == "os_io");
  CHECK(bubbles.findings[0].cost == 11 * 2 * kMillisecond);
  CHECK(bubbles.findings[1].key == "setup");
  CHECK(bubbles.findings[1].recurrence == Recurrence::kOnce);
  CHECK(bubbles.findings[1].cost == 1'299 * kMillisecond + 8'000);  // up to the first kernel of the first iteration, which warms up
}

TEST_CASE("what the GPU does after the CPU has left the loop still belongs to the loop") {
  Scenario program;
  for (int step = 0; step < 20; ++step) {
    program.range("step_" + std::to_string(step), step * 1'000, step * 1'000 + 900);
    program.call("cudaStreamWaitEvent", step * 1'000 + 5, step * 1'000 + 8);
    program.kernel("k", step * 1'000 + 10, step * 1'000 + 400, (step + 1) * kMillisecond, (step + 1) * kMillisecond + 400'000);
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE(bubbles.findings.size() == 1);
  CHECK(bubbles.findings[0].key == "dependency");
  CHECK(bubbles.findings[0].cost == 19 * 600'000);
  CHECK_THAT(bubbles.findings[0].title, contains_text("cudaStreamWaitEvent"));
}

TEST_CASE("the causes in the table add up to the idle time of the GPU") {
  Scenario program;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds t = i * 50 * kMicrosecond;
    program.kernel("k", t, t + 2'000, t + 3'000, t + (i % 3 == 0 ? 49'500 : 20'000));
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles:gap=10us");
  const stats::Table& causes = table_named(bubbles, "gpu_bubbles_causes");
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < causes.row_count(); ++row) sum += integer(causes, row, "Total Time");
  CHECK(sum == integer(table_named(bubbles, "gpu_bubbles_gpus"), 0, "Idle"));
  CHECK(text(causes, causes.row_count() - 1, "Cause") == "Gaps below the threshold");
  CHECK(integer(causes, causes.row_count() - 1, "Total Time") == 33 * 3'500);
}

TEST_CASE("a wait after each launch is a storm of waits") {
  Scenario program;
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds t = i * 40 * kMicrosecond;
    program.kernel("k", t, t + 3'000, t + 6'000, t + 26'000);
    program.call("cudaDeviceSynchronize", t + 4'000, t + 39'000);
  }
  const std::vector<Finding> found = findings(*program.trace());
  REQUIRE(found.size() >= 2);
  CHECK(found[0].key == "synchronize");
  CHECK(found[1].rule == "sync_storm");
  CHECK(found[1].cost == found[0].cost);
  CHECK(found[0].cost == 199 * 19'000);  // the wait's end, the launch and its latency: 20 us but for 1 us of CPU code
  CHECK_THAT(found[1].title, contains_text("times for 200 GPU operations"));
}

TEST_CASE("blocking copies one after the other are waits for the GPU, and what they cost is no matter of launches") {
  Scenario program;
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds t = i * 40 * kMicrosecond;
    program.kernel("k", t, t + 3'000, t + 6'000, t + 26'000);
    program.copy("cudaMemcpyFromSymbol", MemoryKind::kPinned, 8, t + 4'000, t + 39'000, t + 37'000, t + 38'000);
  }
  const auto trace = program.trace();
  const RuleAnswer waits = answer(*trace, "sync_storm");
  REQUIRE(waits.findings.size() == 1);
  // In front of each copy 11 us; behind all but the last its end, the launch and its latency: 8 us but for 1 us of CPU code.
  CHECK(waits.findings[0].cost == 200 * 11'000 + 199 * 7'000);
  CHECK_THAT(waits.findings[0].seen, contains_text("cudaMemcpyFromSymbol") && contains_text("200 calls"));
  CHECK_THAT(waits.findings[0].advice, contains_text("A blocking copy waits for all work in front of it"));
  CHECK(answer(*trace, "staircase").findings.empty());
}

TEST_CASE("idle time of blocking copies is told once where idle time is asked for as well") {
  Scenario program;
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds t = i * 100 * kMicrosecond;
    program.kernel("k", t, t + 3'000, t + 6'000, t + 26'000);
    program.call("cudaDeviceSynchronize", t + 4'000, t + 39'000);
    // A blocking copy every other time, in front of which the GPU has nothing to do for 20 us.
    if (i % 2 == 0) program.copy("cudaMemcpy", MemoryKind::kPageable, 8, t + 40'000, t + 90'000, t + 60'000, t + 61'000);
  }
  const auto trace = program.trace();
  const auto answers_to = [&](std::vector<std::string> rules) {
    std::vector<RuleRequest> requests;
    for (const std::string& rule : rules) requests.push_back(*parse_rule(rule));
    const auto answers = apply_rules(*trace, requests);
    REQUIRE(answers);
    return *answers;
  };
  const auto cost_of = [](const RuleAnswer& answered, std::string_view key) {
    const auto found = std::find_if(answered.findings.begin(), answered.findings.end(), [&](const Finding& finding) { return finding.key == key; });
    REQUIRE(found != answered.findings.end());
    return found->cost;
  };
  const Nanoseconds alone = cost_of(answer(*trace, "sync_storm"), "");
  const std::vector<RuleAnswer> both = answers_to({"gpu_bubbles", "sync_storm"});
  const Nanoseconds copies = cost_of(both[0], "copy");
  REQUIRE(copies > 100 * 20'000);
  CHECK(cost_of(both[1], "") == alone - copies);
  CHECK_THAT(both[1].findings[0].title, contains_text("waited for the GPU 200 times for 300 GPU operations"));
  CHECK_THAT(both[1].findings[0].seen, contains_text("cudaDeviceSynchronize"));
  const auto told = std::find_if(both[0].findings.begin(), both[0].findings.end(), [](const Finding& finding) { return finding.key == "copy"; });
  CHECK_THAT(told->advice, contains_text("A blocking copy waits for all work in front of it"));
  const stats::Table& calls = table_named(both[1], "sync_storm");  // has all of them
  REQUIRE(calls.row_count() == 2);
  CHECK(integer(calls, 0, "GPU Idle") + integer(calls, 1, "GPU Idle") == alone);
  // Where gpu_bubbles has nothing to say of them, all is said here.
  CHECK(cost_of(answers_to({"gpu_bubbles:gap=1ms", "sync_storm"})[1], "") == alone);
  CHECK(cost_of(answers_to({"gpu_bubbles:share=90", "sync_storm"})[1], "") == alone);
}

TEST_CASE("idle time of streams is that of the time that was asked for") {
  Scenario program;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = i * 100 * kMicrosecond;
    program.kernel("k", t + 1'000, t + 5'000, t + 10'000, t + 60'000);  // launched after the one before it had ended
  }
  const auto trace = program.trace();
  const auto streams_in = [&](TimeRange time) {
    const auto answers = apply_rules(*trace, std::vector{*parse_rule("gpu_bubbles")}, {}, time);
    REQUIRE(answers);
    return table_named(answers->front(), "gpu_bubbles_streams");
  };
  const stats::Table all = streams_in({INT64_MIN, INT64_MAX});
  REQUIRE(all.row_count() == 1);
  CHECK(integer(all, 0, "Operations") == 10);
  CHECK(integer(all, 0, "Host Wait") == 9 * 50'000);
  // From the midst of a gap to the midst of another: one kernel begins, and 20 us and 30 us of gaps lie in it.
  const stats::Table part = streams_in({190'000, 290'000});
  CHECK(integer(part, 0, "Operations") == 1);
  CHECK(integer(part, 0, "Busy") == 50'000);
  CHECK(integer(part, 0, "Host Wait") == 20'000 + 30'000);
  const stats::Table in_gap = streams_in({165'000, 185'000});
  CHECK(integer(in_gap, 0, "Operations") == 0);
  CHECK(integer(in_gap, 0, "Host Wait") == 20'000);
}

TEST_CASE("where no iterations are marked, shares are of the time until the last GPU work, and not until the program ended") {
  // The program ran on for as long after its GPU work. By hand: 29.66 ms of copies in 108.7 ms from the first round to the last operation.
  const auto trace = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(trace);
  const RuleAnswer pageable = answer(**trace, "pageable");
  REQUIRE(pageable.findings.size() == 1);
  CHECK_THAT(pageable.findings[0].title, contains_text("(27 % of the time in which its work repeats)"));
}

TEST_CASE("tiny kernels at the pace of their launches") {
  Scenario program;
  for (int i = 0; i < 2'000; ++i) {
    const Nanoseconds t = i * 3'000;
    program.kernel("tiny", t, t + 2'800, t + 4'000, t + 5'000);
  }
  const auto trace = program.trace();
  const RuleAnswer staircase = answer(*trace, "staircase");
  REQUIRE(staircase.findings.size() == 1);
  CHECK(staircase.findings[0].cost == 1'999 * 2'000);  // each gap lasts 2 us
  const RuleAnswer small = answer(*trace, "small_kernels");
  REQUIRE(small.findings.size() == 1);
  CHECK(small.findings[0].cost == 1'999 * 1'000);  // all but the microsecond that a graph needs between nodes
  CHECK(integer(table_named(small, "small_kernels"), 0, "Kernels") == 2'000);
  CHECK(findings(*trace)[0].rule == "staircase");
}

TEST_CASE("a full queue is no staircase, however small the kernels") {
  Scenario program;
  for (int i = 0; i < 2'000; ++i) program.kernel("tiny", i * 1'000, i * 1'000 + 900, 50'000 + i * 3'000, 50'000 + i * 3'000 + 2'900);
  CHECK(answer(*program.trace(), "staircase").findings.empty());
  CHECK(answer(*program.trace(), "small_kernels").findings.empty());  // gaps of 100 ns can't be won
}

TEST_CASE("copies and kernels that take turns could run beside each other") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * 2 * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 25'000'000, t, t + 5'000, t + 10'000, t + kMillisecond);
    program.kernel("k", t + 5'000, t + 10'000, t + kMillisecond, t + 1'700'000);
  }
  const auto trace = program.trace();
  CHECK(findings(*trace)[0].rule == "no_overlap");
  CHECK(findings(*trace)[0].cost == 20 * 700'000);  // the kernels, which are shorter than the copies
  CHECK(answer(*trace, "pageable").findings.empty());
}

TEST_CASE("where copies take most of the time, copying less comes before copying beside kernels") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 25'000'000, t, t + 5'000, t + 10'000, t + 960'000);
    program.kernel("k", t + 5'000, t + 10'000, t + 960'000, t + 965'000);  // 0.5 % of the time: less than there must be to win
  }
  const std::vector<Finding> found = answer(*program.trace(), "no_overlap").findings;
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost == 19 * 950'000);  // all copies but the first, which lies before the work that repeats
  CHECK_THAT(found[0].title, contains_text("18.1 ms of that no kernel of the same process ran (95 % of") && contains_text("the program mostly copies"));
  CHECK_THAT(found[0].seen, contains_text("Run beside each other, they could save up to 100 µs"));
  CHECK_THAT(found[0].advice, contains_text("Copy less first") && contains_text("keep data on the GPU") && contains_text("many small copies as one"));
  CHECK(answer(*program.trace(), "no_overlap:most=96").findings.empty());
}

TEST_CASE("kernels that would hide less than half of the copies get the advice to copy less, at the cost of what they could hide") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 10'000'000, t, t + 5'000, t + 10'000, t + 410'000);
    program.kernel("k", t + 5'000, t + 10'000, t + 410'000, t + 510'000);
  }
  const std::vector<Finding> found = answer(*program.trace(), "no_overlap").findings;
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost == 20 * 100'000);
  CHECK_THAT(found[0].title, contains_text("copies and kernels take turns"));
  CHECK_THAT(found[0].advice, contains_text("Copy less first"));
}

TEST_CASE("copies of pageable memory that take most of the time are to become less before they become faster") {
  Scenario program;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = i * 10 * kMillisecond;
    program.copy("cudaMemcpy", MemoryKind::kPageable, 50'000'000, t, t + 9'500'000, t, t + 9'500'000);
    program.kernel("k", t + 9'500'000, t + 9'510'000, t + 9'510'000, t + 9'600'000);
  }
  const std::vector<Finding> found = answer(*program.trace(), "pageable").findings;
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].advice, contains_text("Copy less first") && contains_text("cudaMallocHost"));
}

TEST_CASE("copies that hide behind kernels are left alone") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * 2 * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 25'000'000, t, t + 5'000, t + 10'000, t + kMillisecond, 8);
    program.kernel("k", t + 5'000, t + 10'000, t + 11'000, t + 1'700'000, 7);
  }
  CHECK(answer(*program.trace(), "no_overlap").findings.empty());
}

TEST_CASE("iterations in which counters were read say nothing of the program's own idle time, where three were left alone") {
  // Steps of 10 ms with a kernel of 8 ms behind 1 ms of code, and 1 ms of code behind that. In some a kernel is read for 100 ms first, and the code
  // behind it takes 3 ms, as with cold caches.
  const auto program_of = [](const std::set<int>& read) {
    Scenario program;
    Nanoseconds t = 0;
    std::uint32_t launches = 0;
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds begin = t;
      if (read.contains(step)) {
        program.kernel("read", t + 2'000, t + 100 * kMillisecond, t + 10'000, t + 20'000);
        program.builder()->add(MeasuredLaunch{program.process(), ++launches, KernelReplay::kKernel, 3, {}, 0, {}});
        t += 102 * kMillisecond;
      }
      t += kMillisecond;
      program.kernel("k", t, t + 5'000, t + 5'000, t + 8 * kMillisecond);
      ++launches;
      program.call("cudaDeviceSynchronize", t + 6'000, t + 8 * kMillisecond + 1'000);
      t += 9 * kMillisecond;
      program.range("step_" + std::to_string(step), begin, t);
      program.range("batch_" + std::to_string(step), begin + 1'000, t, 1);
    }
    program.kernel("last", t, t + 5'000, t + 5'000, t + kMillisecond);
    return program.trace();
  };
  const auto cpu_code = [](const Trace& trace) {
    for (const Finding& finding : answer(trace, "gpu_bubbles").findings)
      if (finding.key == "cpu_code") return finding;
    return Finding();
  };
  const auto undisturbed = program_of({}), some = program_of({2, 3, 5, 6, 8}), most = program_of({1, 2, 3, 4, 5, 6, 7, 8});
  // 2 ms of 10 ms in each step, but for what lies before the first kernel.
  CHECK_THAT(cpu_code(*undisturbed).title.english(), contains_text("idle for 19.0 ms (19 % of the loop"));
  CHECK_THAT(cpu_code(*some).title.english(), contains_text("idle for 8.99 ms (18 % of the loop"));
  CHECK_THAT(answer(*some, "gpu_bubbles").summary.english(), contains_text("5 iterations in which that was done are left out"));
  CHECK(answer(*some, "tail").findings.empty());
  for (const std::string_view range : {"", ":range=batch_1"}) CHECK(answer(*some, "tail:slower=10:share=0" + std::string(range)).tables.empty());
  CHECK(cpu_code(*most).cost > 30 * kMillisecond);  // of two that were left alone, neither is usual
}

TEST_CASE("pageable copies are measured against the trace's own pinned ones") {
  Scenario program;
  program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 50'000'000, 0, 5'000, 10'000, 1'010'000);  // 50 GB/s
  for (int i = 1; i <= 10; ++i) {
    const Nanoseconds t = i * 10 * kMillisecond;
    program.copy("cudaMemcpy", MemoryKind::kPageable, 50'000'000, t, t + 9 * kMillisecond, t + 10'000, t + 9 * kMillisecond);
  }
  const auto trace = program.trace();
  const std::vector<Finding> found = findings(*trace);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].rule == "pageable");
  CHECK(found[0].cost == 10 * (9 * kMillisecond - 10'000 - kMillisecond));
}

TEST_CASE("chunks on one stream are told of where it is known to be none of the default ones") {
  const auto findings_of = [](std::uint32_t kind) {
    Scenario program;
    program.builder()->set_stream({program.process(), 1, 7, 0, kind, {}});
    for (int i = 0; i < 8; ++i) {
      const Nanoseconds t = i * 3 * kMillisecond;
      program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, t, t + 5'000, t + 10'000, t + kMillisecond);
      program.kernel("k", t + 6'000, t + 9'000, t + kMillisecond, t + 2 * kMillisecond);
      program.copy_back("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, t + 10'000, t + 15'000, t + 2 * kMillisecond, t + 3 * kMillisecond);
    }
    return answer(*program.trace(), "one_stream").findings.size();
  };
  constexpr std::uint32_t kUnknown = 0, kNonBlocking = 2, kNull = 3;  // proto::StreamKind
  CHECK(findings_of(kNonBlocking) == 1);
  CHECK(findings_of(kNull) == 0);
  CHECK(findings_of(kUnknown) == 0);  // PyTorch's traces do not say which stream is the default one
}

TEST_CASE("several streams were created and one was used") {
  Scenario program;
  for (int i = 0; i < 4; ++i) program.call("cudaStreamCreate", i * 10, i * 10 + 5);
  program.kernel("k", 100, 110, 120, 200, 7);
  const auto one = answer(*program.trace(), "one_stream");
  REQUIRE(one.findings.size() == 1);
  CHECK_THAT(one.findings[0].title, contains_text("created 4 streams"));
  program.kernel("k", 200, 210, 220, 300, 13);
  CHECK_THAT(answer(*program.trace(), "one_stream").findings.at(0).title, contains_text("ran on only 2"));
  program.kernel("k", 300, 310, 320, 400, 14);
  program.kernel("k", 400, 410, 420, 500, 15);
  CHECK(answer(*program.trace(), "one_stream").findings.empty());
}

TEST_CASE("communication is compared with the computation beside it") {
  Scenario program;
  program.kernel("gemm", 0, 10, 0, 1'000, 7);
  program.kernel("ncclDevKernel_AllReduce", 5, 15, 800, 2'000, 20);
  const RuleAnswer overlap = answer(*program.trace(), "comm_overlap");
  REQUIRE(overlap.findings.size() == 1);
  CHECK(overlap.findings[0].cost == 1'000);
  const stats::Table& table = table_named(overlap, "comm_overlap");
  CHECK(integer(table, 0, "Communication") == 1'200);
  CHECK(integer(table, 0, "Hidden") == 200);
}

TEST_CASE("of one rank alone, no more counts as communication than the shortest of its kernels allow") {
  Scenario program;
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds begin = step * 10'000;
    program.kernel("gemm", begin, begin + 10, begin + 20, begin + 1'000);
    program.kernel("ncclDevKernel_AllReduce", begin + 10, begin + 20, begin + 1'000, begin + (step == 3 ? 1'200 : 9'000), 20);
  }
  const RuleAnswer overlap = answer(*program.trace(), "comm_overlap");
  REQUIRE(overlap.findings.size() == 1);
  CHECK(overlap.findings[0].cost == 10 * 200);
  CHECK_THAT(overlap.findings[0].seen, contains_text("can't be told from the recording of one"));
}

TEST_CASE("waiting for a rank that comes later costs no communication") {
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Scenario program(builder, 100 + rank);
    program.on_gpu(rank);
    program.kernel("gemm", 0, 10, 10, 1'000);
    program.kernel("ncclDevKernel_AllReduce", 5, 15, rank == 1 ? 5'000 : 1'000, 5'300, 20);
  }
  const RuleAnswer overlap = answer(*builder->snapshot(), "comm_overlap");
  REQUIRE(overlap.findings.size() == 1);
  CHECK(overlap.findings[0].cost == 2 * 300);
  const stats::Table& table = table_named(overlap, "comm_overlap");
  CHECK(integer(table, 0, "Waited") == 4'000);
  CHECK(integer(table, 1, "Waited") == 0);
}

TEST_CASE("the rank that computes longest holds the others up") {
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Scenario program(builder, 100 + rank);
    program.on_gpu(rank);
    program.kernel("gemm", 0, 10, 10, 10 + (rank == 2 ? 2'000 : 1'000));
    program.kernel("ncclDevKernel_AllReduce", 5, 15, rank == 2 ? 2'010 : 1'010, 2'100, 20);
  }
  const RuleAnswer imbalance = answer(*builder->snapshot(), "imbalance");
  REQUIRE(imbalance.findings.size() == 1);
  CHECK(imbalance.findings[0].cost == 3 * 1'000);  // what the three others wait
  CHECK_THAT(imbalance.findings[0].title, contains_text("[102]"));
}

TEST_CASE("the rank that comes last to collectives is named by its file") {
  std::vector<TraceSource> files;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    Scenario program(100 + rank);
    const Nanoseconds late = rank == 1 ? 600 : 0;  // on the CPU, in each of six steps
    for (Nanoseconds step = 0; step < 6 * 2'000; step += 2'000) {
      program.kernel("gemm", step + late, step + late + 10, step + late + 10, step + late + 1'010);
      program.kernel("ncclDevKernel_AllReduce", step + late + 5, step + late + 15, step + late + 1'010, step + 1'700, 20);
    }
    files.push_back({program.trace(), "rank" + std::to_string(rank) + ".trace", 0});
  }
  const RuleAnswer imbalance = answer(*combine_traces(files), "imbalance");
  REQUIRE(imbalance.findings.size() == 1);
  CHECK(imbalance.findings[0].cost == 2 * 6 * 600);  // of two ranks, in six steps
  CHECK_THAT(imbalance.findings[0].title, contains_text("rank1.trace: [101]"));
  CHECK_THAT(imbalance.findings[0].title, contains_text("came last"));
  CHECK(answer(*combine_traces(files), "imbalance:waiting=90").findings.empty());
}

TEST_CASE("slow iterations are found, with what differs in them") {
  Scenario program;
  Nanoseconds t = 0;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds reading = step == 11 ? 9 * kMillisecond : kMillisecond;
    program.range("step " + std::to_string(step), t, t + reading + 2 * kMillisecond);
    program.os_call("read", t, t + reading);
    program.kernel("train", t + reading, t + reading + 5'000, t + reading + 8'000, t + reading + 2 * kMillisecond);
    t += reading + 2 * kMillisecond;
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK(tail.findings[0].cost == 8 * kMillisecond);
  CHECK_THAT(tail.findings[0].title, contains_text("1 of 20 iterations (\"step *\")"));
  CHECK_THAT(tail.findings[0].seen, contains_text("Waiting for input or output"));
  const stats::Table& table = table_named(tail, "tail");
  CHECK(table.row_count() == 1);
  CHECK(text(table, 0, "Iteration") == "step 11");
  CHECK(answer(*program.trace(), "tail:slower=1000").findings.empty());

  Scenario warm;  // the same behind an iteration that warms up, which is compared with none
  warm.range("step 0", 0, 40 * kMillisecond);
  t = 40 * kMillisecond;
  for (int step = 1; step < 20; ++step) {
    const Nanoseconds length = step == 11 ? 11 * kMillisecond : 3 * kMillisecond;
    warm.range("step " + std::to_string(step), t, t + length);
    warm.kernel("train", t, t + 5'000, t + 8'000, t + length);
    t += length;
  }
  CHECK_THAT(answer(*warm.trace(), "tail").findings.at(0).title, contains_text("1 of 19 iterations (\"step *\")"));
}

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

TEST_CASE("of a chosen time, a step's time has the ranges and the GPU work that begin in it") {
  Scenario program;
  program.range("before", 0, 90);
  program.range("step", 100, 1'000);
  program.kernel("f", 110, 120, 200, 300);
  program.kernel("f", 10, 20, 600, 650);    // of a range that begins before
  program.kernel("f", 130, 140, 700, 900);  // runs across the end of the time
  program.kernel("f", 150, 160, 900, 950);
  const std::vector<RuleRequest> asked{*parse_rule("step_breakdown")};
  const Result<std::vector<RuleAnswer>> steps = apply_rules(*program.trace(), asked, {}, TimeRange{100, 800});
  REQUIRE(steps);
  const stats::Table& table = table_named(steps->front(), "step_breakdown");
  REQUIRE(table.row_count() == 1);
  CHECK(text(table, 0, "NVTX Range") == "step");
  CHECK(integer(table, 0, "Operations") == 2);
  CHECK(integer(table, 0, "GPU Projected") == 700);    // 200 to 900
  CHECK(integer(table, 0, "GPU Idle Inside") == 350);  // but for 600 to 650
}

TEST_CASE("a step's time is the same whether all ranges are worked on at once or in turns") {
  constexpr std::uint32_t kSteps = 150'000;  // more than two segments of a lane hold
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
    // The second begins three steps later, in another segment now and then.
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
    for (const auto& [family, sum] : sum_steps(RuleContext{.trace = *trace}, families, ranges_at_once)) by_text[families.text(family)] = sum;
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
    // In these 3,400 ns kernels of this step and the next three run for 800 ns, the collectives of those before for 300 ns (none come before the
    // first three), and its own for 100 ns; behind the last kernels, fewer.
    CHECK(steps.idle == Nanoseconds{kSteps} * 2'200 + 6 * 100 + 6 * 200);
    const FamilySum& all = sums.at("epoch");
    CHECK(all.operations == 2 * kSteps);
    CHECK(all.projected == Nanoseconds{kSteps - 1} * 1'000 + 3'400);
    CHECK(all.idle == all.projected - Nanoseconds{kSteps} * 300);
  }
}

TEST_CASE("a rule request names its rule and arguments, or says what is wrong") {
  const auto request = parse_rule("gpu_bubbles:gap=2.5us:rows=-1");
  REQUIRE(request.has_value());
  CHECK(request->arguments.duration("gap") == 2'500);
  CHECK(request->arguments.integer("rows") == -1);
  CHECK(parse_rule("tail")->arguments.real("slower") == 20);
  CHECK_THAT(parse_rule("gpu_bubbles:gap=soon").error().text, contains_text("'soon' is no value for gap"));
  CHECK_THAT(parse_rule("gpu_bubbles:size=3").error().text, contains_text("Its arguments (name=value): gap, share, rows."));
  CHECK_THAT(parse_rule("bubbles").error().text, contains_text("There is no rule bubbles"));
}

TEST_CASE("every rule answers for a trace without events") {
  TraceBuilder builder;
  const auto trace = builder.snapshot();
  for (const Rule& rule : rules()) {
    const RuleAnswer answered = answer(*trace, std::string(rule.name));
    CHECK(answered.findings.empty());
    CHECK(answered.tables.empty());
    CHECK_FALSE(answered.message.empty());
  }
}

TEST_CASE("rules and idle times that are asked to stop end where they are") {
  Scenario program;
  for (int i = 0; i < 100; ++i) program.kernel("k", i * 1'000, i * 1'000 + 10, i * 1'000 + 20, i * 1'000 + 100);
  const auto trace = program.trace();
  std::stop_source asked;
  int gaps = 0;
  visit_idle(
      *trace, 1,
      [&](const IdleGap&, std::span<const IdlePart>) {
        ++gaps;
        asked.request_stop();
      },
      asked.get_token());
  CHECK(gaps == 1);

  std::vector<RuleRequest> requests;
  for (const Rule& rule : rules()) {
    requests.push_back(*parse_rule(rule.name));
    INFO(rule.name);
    CHECK(apply_rule(*trace, requests.back(), asked.get_token())->findings.empty());
  }
  const auto answers = apply_rules(*trace, requests, asked.get_token());
  REQUIRE(answers->size() == requests.size());
  for (const RuleAnswer& answer : *answers) CHECK((answer.findings.empty() && answer.tables.empty()));
}

TEST_CASE("idle time while CPU code ran names the functions that were sampled in it") {
  Scenario program;
  TraceBuilder& builder = *program.builder();
  const auto calls = [&](const std::string& outer, const std::string& inner, CodeKind kind) {
    const CodeFunction function{builder.intern(outer), builder.intern("/home/user/train.py"), 31};
    const CallNodeId caller = builder.call_node({0, builder.code_location({CodeKind::kPython, 0, 0, 0}, function)});
    return builder.call_node({caller, builder.code_location({kind, builder.intern("lib.so"), 0, 1}, {builder.intern(inner), 0, 0})});
  };
  const CallNodeId decode = calls("decode_image", "memcpy", CodeKind::kNative);
  const CallNodeId shuffle = calls("shuffle", "randrange", CodeKind::kPython);
  const CallNodeId elsewhere = calls("elsewhere", "spin", CodeKind::kNative);
  std::vector<SampleEvent> samples;
  const auto sample = [&](Nanoseconds time, CallNodeId chain) { samples.push_back({time, 0, {chain, SampleOrigin::kTimer, kNone, 1'000}}); };
  program.range("data", 0, 100'000);
  program.kernel("k", 0, 10, 20, 1'000);
  sample(500, elsewhere);  // the GPU is busy
  for (const Nanoseconds t : {2'000, 10'000, 20'000}) sample(t, decode);
  sample(30'000, shuffle);
  program.kernel("k", 40'000, 40'010, 40'020, 41'000);
  sample(40'500, elsewhere);
  add_samples(builder, program.process(), 100, samples);
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE(bubbles.findings.size() >= 1);
  CHECK(bubbles.findings[0].key == "cpu_code");
  CHECK_THAT(bubbles.findings[0].title, contains_text("NVTX range \"data\""));
  CHECK_THAT(bubbles.findings[0].title, contains_text("\"data\": decode_image in train.py:31 (75 %)."));
  CHECK_THAT(bubbles.findings[0].seen, contains_text("4 samples of the CPU in it: decode_image in train.py:31 (75 %), randrange (25 %)"));
  const stats::Table& groups = table_named(bubbles, "gpu_bubbles");
  CHECK(groups.text(groups.columns().back().text(0)) == "decode_image in train.py:31 (75 %)");
}
