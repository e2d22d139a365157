// Rules: traces with one known fault each, and what the rule for it reports.
#include <algorithm>
#include <array>
#include <set>

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
using namespace lanescope::test;

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
  CHECK(grids[0].cost == 20 * kMillisecond * 3 / 4);  // of the loop's 20 runs, with blocks on a fourth of 132 multiprocessors
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
  CHECK(found[0].cost == 5 * 11 * kMillisecond);  // 10 ms inside the range and 1 ms outside it, five times
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
  CHECK(times(-1'000 * kMillisecond) == 6 * 3 * kMillisecond);  // as for one of several recordings that started before the first one that is named
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
  CHECK(bubbles.findings[1].cost == 1'299 * kMillisecond + 8'000);  // until the first kernel of the first iteration, which warms up
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

TEST_CASE("shares of causes are of the idle time in the loop, or of that outside of it, as the findings are") {
  Scenario program;  // 5 s of start-up, then a loop in which the GPU is idle for 5 ms of each 10 ms
  program.kernel("init", 0, 2'000, 3'000, 4'000);
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds t = 5'000 * kMillisecond + step * 10 * kMillisecond;
    program.range("step " + std::to_string(step), t, t + 10 * kMillisecond);
    program.kernel("k", t + 5 * kMillisecond, t + 5 * kMillisecond + 2'000, t + 5 * kMillisecond + 3'000, t + 10 * kMillisecond);
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  for (const char* name : {"gpu_bubbles_causes", "gpu_bubbles"}) {
    const stats::Table& table = table_named(bubbles, name);
    const auto idle = std::find_if(table.columns().begin(), table.columns().end(), [](const stats::Column& each) { return each.title == "Idle"; });
    REQUIRE(idle != table.columns().end());
    std::map<std::string, double> shares;
    for (std::size_t row = 0; row < table.row_count(); ++row) shares[text(table, row, "When")] += idle->real(row);
    CHECK(shares.size() == 2);
    for (const auto& [when, share] : shares) CHECK(share == Approx(100).margin(0.1));
  }
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
  CHECK(found[0].cost == 199 * 19'000);  // the end of the wait, the launch and its latency: 20 us less 1 us of CPU code
  CHECK_THAT(found[1].title, contains_text("times for 200 GPU operations"));
  // Both name the most in one gap: 19 of 20 us, in two parts around the CPU code.
  CHECK_THAT(found[0].seen, contains_text("at most 19.0 µs in a gap of 20.0 µs"));
  CHECK_THAT(found[1].seen, contains_text(", for 19.0 µs at most"));
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
  // Before each copy 11 us; after all but the last, the end of the copy, the launch and its latency: 8 us less 1 us of CPU code.
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
    // Every other time a blocking copy, before which the GPU has nothing to do for 20 us.
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
  const stats::Table& calls = table_named(both[1], "sync_storm");  // it has all of them
  REQUIRE(calls.row_count() == 2);
  CHECK(integer(calls, 0, "GPU Idle") + integer(calls, 1, "GPU Idle") == alone);
  // If gpu_bubbles reports none of them, this rule reports all.
  CHECK(cost_of(answers_to({"gpu_bubbles:gap=1ms", "sync_storm"})[1], "") == alone);
  CHECK(cost_of(answers_to({"gpu_bubbles:share=90", "sync_storm"})[1], "") == alone);
}

TEST_CASE("idle time of streams is that of the time that was asked for") {
  Scenario program;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = i * 100 * kMicrosecond;
    program.kernel("k", t + 1'000, t + 5'000, t + 10'000, t + 60'000);  // launched after the previous kernel had ended
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
  // From the middle of a gap to the middle of another: one kernel starts, and 20 us and 30 us of gaps lie in the range.
  const stats::Table part = streams_in({190'000, 290'000});
  CHECK(integer(part, 0, "Operations") == 1);
  CHECK(integer(part, 0, "Busy") == 50'000);
  CHECK(integer(part, 0, "Host Wait") == 20'000 + 30'000);
  const stats::Table in_gap = streams_in({165'000, 185'000});
  CHECK(integer(in_gap, 0, "Operations") == 0);
  CHECK(integer(in_gap, 0, "Host Wait") == 20'000);
}

TEST_CASE("where no iterations are marked, shares are of the time until the last GPU work, and not until the program ended") {
  // The program ran for as long again after its GPU work. By hand: 29.66 ms of copies in 108.7 ms from the first round to the last operation.
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
  CHECK(small.findings[0].cost == 1'999 * 1'000);  // all except the microsecond that a graph needs between nodes
  CHECK(integer(table_named(small, "small_kernels"), 0, "Kernels") == 2'000);
  CHECK(findings(*trace)[0].rule == "staircase");
}

TEST_CASE("a GPU that is busy for most of the time is no staircase, though each of its operations starts as soon as it is enqueued") {
  for (const Nanoseconds length : {400 * kMicrosecond, 600 * kMicrosecond}) {  // of 1 ms
    INFO(length);
    Scenario alone, beside;
    for (int i = 0; i < 200; ++i) {
      const Nanoseconds t = i * kMillisecond;
      alone.kernel("k", t, t + 2'000, t + 3'000, t + 3'000 + length);
      // Each of two kernels beside each other has the length: together they keep the GPU busy for 1 us more.
      beside.kernel("k", t, t + 2'000, t + 3'000, t + 3'000 + length);
      beside.kernel("k", t + 2'100, t + 3'100, t + 4'000, t + 4'000 + length, 8);
    }
    const bool is_staircase = length < kMillisecond / 2;
    CHECK(answer(*alone.trace(), "staircase:gap=1ms").findings.empty() != is_staircase);
    CHECK(answer(*beside.trace(), "staircase:gap=1ms").findings.empty() != is_staircase);
  }
}

TEST_CASE("a full queue is no staircase, however small the kernels") {
  Scenario program;
  for (int i = 0; i < 2'000; ++i) program.kernel("tiny", i * 1'000, i * 1'000 + 900, 50'000 + i * 3'000, 50'000 + i * 3'000 + 2'900);
  CHECK(answer(*program.trace(), "staircase").findings.empty());
  CHECK(answer(*program.trace(), "small_kernels").findings.empty());  // gaps of 100 ns can't be gained
}

TEST_CASE("iterations in which counters were read say nothing of the program's own idle time, where three were left alone") {
  // Steps of 10 ms: 1 ms of code, a kernel of 8 ms, and 1 ms of code. In some, the counters of a kernel are first read for 100 ms, and the code after that
  // takes 3 ms, as with cold caches.
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
  // 2 ms of 10 ms in each step, except for the time before the first kernel.
  CHECK_THAT(cpu_code(*undisturbed).title.english(), contains_text("idle for 19.0 ms (19 % of the loop"));
  CHECK_THAT(cpu_code(*some).title.english(), contains_text("idle for 8.99 ms (18 % of the loop"));
  CHECK_THAT(answer(*some, "gpu_bubbles").summary.english(),
             contains_text("5 iterations in which that was done are left out of idle time, while kernels count in all."));
  // Costs of kernels are those of all ten steps: so is that of idle time, which the other five tell.
  CHECK(cpu_code(*some).cost > 17 * kMillisecond);
  CHECK(cpu_code(*some).cost < 19 * kMillisecond);
  CHECK_THAT(cpu_code(*some).seen.english(), contains_text("In all 10 iterations, of which 5 count here, that is about 18.0 ms."));
  // Both numbers say what they are of.
  CHECK_THAT(cpu_code(*some).title.english(), contains_text("in the 5 of its 10 iterations that count"));
  CHECK(cost_text(cpu_code(*some)).english() == "up to 18.0 ms in all 10 iterations");
  CHECK(cost_text(cpu_code(*undisturbed)).english() == "up to 19.0 ms");
  CHECK(answer(*some, "tail").findings.empty());
  for (const std::string_view range : {"", ":range=batch_1"}) CHECK(answer(*some, "tail:slower=10:share=0" + std::string(range)).tables.empty());
  CHECK(cpu_code(*most).cost > 30 * kMillisecond);  // two undisturbed iterations do not tell which one is usual
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
  CHECK(imbalance.findings[0].cost == 3 * 1'000);  // waiting time of the three others
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
  CHECK_THAT(tail.findings[0].seen, contains_text("idle GPU while the launching thread read or wrote: 8.00 ms"));
  const stats::Table& table = table_named(tail, "tail");
  CHECK(table.row_count() == 1);
  CHECK(text(table, 0, "Iteration") == "step 11");
  CHECK(answer(*program.trace(), "tail:slower=1000").findings.empty());

  Scenario warm;  // the same after an iteration that warms up, which is not compared
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
  sample(500, elsewhere);                     // the GPU is busy
  const std::size_t seen = GENERATE(2u, 3u);  // twice is chance
  for (std::size_t i = 0; i < seen; ++i) sample(std::array{2'000, 10'000, 20'000}[i], decode);
  sample(30'000, shuffle);
  program.kernel("k", 40'000, 40'010, 40'020, 41'000);
  sample(40'500, elsewhere);
  add_samples(builder, program.process(), 100, samples);
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE(bubbles.findings.size() >= 1);
  CHECK(bubbles.findings[0].key == "cpu_code");
  CHECK_THAT(bubbles.findings[0].title, contains_text("NVTX range \"data\""));
  if (seen == 2) {
    CHECK_THAT(bubbles.findings[0].title, !contains_text("decode_image"));
    return;
  }
  CHECK_THAT(bubbles.findings[0].title, contains_text("\"data\": decode_image in train.py:31 (75 %)."));
  CHECK_THAT(bubbles.findings[0].seen, contains_text("4 samples of the CPU in it: decode_image in train.py:31 (75 %), randrange (25 %)"));
  const stats::Table& groups = table_named(bubbles, "gpu_bubbles");
  CHECK(groups.text(groups.columns().back().text(0)) == "decode_image in train.py:31 (75 %)");
}

TEST_CASE("an empty time that the arguments of Nsight's rules choose is refused") {
  Scenario program;
  program.kernel("k", 0, 10, 20, 1'000);
  const auto trace = program.trace();
  for (const char* const rule : {"gpu_gaps:start=14s:end=1s", "gpu_time_util:start=1s:end=1s"}) {
    const Result<RuleAnswer> answered = apply_rule(*trace, *parse_rule(rule));
    REQUIRE_FALSE(answered);
    CHECK(answered.error().kind == ErrorKind::kUsage);
  }
}
