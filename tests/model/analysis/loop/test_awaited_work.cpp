// How much of a GPU's work the program waits for: the programs are simulated again with shorter kernels.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "answers.h"
#include "loop/awaited_work.h"
#include "loop/loop_work.h"
#include "model/analysis/rule.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

// A thread enqueues kernels into one queue, and sometimes waits for the GPU.
struct Step {
  Nanoseconds code = 0;  // code that runs before the launch
  bool is_chosen = false;
  Nanoseconds kernel = 0;
  bool waits = false;  // true if the thread waits for the GPU after the launch
};

struct Run {
  Nanoseconds end = 0;     // end of the thread and of the GPU
  Nanoseconds chosen = 0;  // total time of the chosen kernels
};

constexpr Nanoseconds kCall = 4 * kMicrosecond, kLatency = 3 * kMicrosecond;

// The chosen kernels take less time by the share `less`. If a scenario is given, the run is recorded in it.
Run run(const std::vector<Step>& steps, double less, Scenario* recorded = nullptr) {
  Run result;
  Nanoseconds cpu = 0, gpu = 0;
  for (const Step& step : steps) {
    cpu += step.code;
    const Nanoseconds call = cpu;
    cpu += kCall;
    const Nanoseconds start = std::max(gpu + kMicrosecond, cpu + kLatency);
    const auto kernel = step.is_chosen ? static_cast<Nanoseconds>(static_cast<double>(step.kernel) * (1 - less)) : step.kernel;
    gpu = start + kernel;
    if (step.is_chosen) result.chosen += kernel;
    if (recorded != nullptr) recorded->kernel(step.is_chosen ? "chosen" : "other", call, cpu, start, gpu);
    if (!step.waits) continue;
    const Nanoseconds wait = cpu;
    cpu = std::max(cpu + kMicrosecond, gpu + 2 * kMicrosecond);
    if (recorded != nullptr) recorded->call("cudaStreamSynchronize", wait, cpu);
  }
  result.end = std::max(cpu, gpu);
  return result;
}

Nanoseconds told(const Trace& trace, Nanoseconds saved, Nanoseconds time) {
  const RuleContext context{.trace = trace, .time = {-1, kWholeTrace.end}};  // all of it counts
  const NameId chosen = *trace.find_name("chosen");
  const KernelsOfGpu kernels{0, chosen};
  return loop_work(context).awaited().awaited_of(saved, time, {&kernels, 1});
}

std::vector<Step> some_program(std::mt19937& random) {
  const auto up_to = [&](Nanoseconds most) { return std::uniform_int_distribution<Nanoseconds>(kMicrosecond, most)(random); };
  const auto one_in = [&](int number) { return std::uniform_int_distribution<int>(1, number)(random) == 1; };
  const Nanoseconds code = up_to(100 * kMicrosecond), kernel = up_to(100 * kMicrosecond);
  const int between_waits = std::uniform_int_distribution<int>(1, 40)(random);
  std::vector<Step> steps(300);
  for (Step& step : steps) step = {up_to(code), one_in(3), up_to(kernel), one_in(between_waits)};
  steps.front().is_chosen = true;
  return steps;
}

}  // namespace

TEST_CASE("of a program that enqueues too slowly, kernels are awaited that a call waits for, and no others") {
  std::vector<Step> steps;
  for (int step = 0; step < 20; ++step) {
    for (int i = 0; i < 9; ++i) steps.push_back({90 * kMicrosecond, true, 30 * kMicrosecond, false});
    steps.push_back({90 * kMicrosecond, true, 30 * kMicrosecond, true});
  }
  Scenario program;
  const Run before = run(steps, 0, &program);
  REQUIRE(before.chosen == 200 * 30 * kMicrosecond);
  // One of ten kernels is waited for, so a tenth of the total saving is won.
  CHECK(before.end - run(steps, 0.5).end == 20 * 15 * kMicrosecond);
  CHECK(told(*program.trace(), 200 * 15 * kMicrosecond, before.chosen) == 20 * 15 * kMicrosecond);
}

TEST_CASE("of a program that is ahead of the GPU all is awaited") {
  std::vector<Step> steps(200, Step{5 * kMicrosecond, true, 40 * kMicrosecond, false});
  Scenario program;
  const Run before = run(steps, 0, &program);
  CHECK(before.end - run(steps, 0.25).end == 200 * 10 * kMicrosecond);
  CHECK(told(*program.trace(), 200 * 10 * kMicrosecond, before.chosen) == 200 * 10 * kMicrosecond);
}

TEST_CASE("a program is faster by no more than its thread waited") {
  std::vector<Step> steps(100, Step{50 * kMicrosecond, true, 60 * kMicrosecond, true});
  Scenario program;
  const Run before = run(steps, 0, &program);
  // Kernels of 60 us follow calls of 4 us and a latency of 3 us: the thread waits from the call's end, and that time can be won.
  CHECK(before.end - run(steps, 1).end == 100 * 60 * kMicrosecond);
  CHECK(told(*program.trace(), before.chosen, before.chosen) == before.chosen);

  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = {50 * kMicrosecond, i % 2 == 0, 60 * kMicrosecond, i % 2 == 1};
  Scenario ahead;
  const Run with_lead = run(steps, 0, &ahead);
  const Nanoseconds told_of_it = told(*ahead.trace(), with_lead.chosen, with_lead.chosen);
  CHECK(told_of_it >= with_lead.end - run(steps, 1).end);
}

TEST_CASE("what is told is never less than a program gains, and as much where its kernels take a little less") {
  std::mt19937 random(14);
  Nanoseconds gained = 0, told_of_little = 0, saved_in_all = 0;
  for (int number = 0; number < 300; ++number) {
    const std::vector<Step> steps = some_program(random);
    Scenario program;
    const Run before = run(steps, 0, &program);
    const auto trace = program.trace();
    for (const double less : {0.01, 0.3, 0.9}) {
      const Run after = run(steps, less);
      const Nanoseconds saved = before.chosen - after.chosen, gain = before.end - after.end;
      const Nanoseconds answer = told(*trace, saved, before.chosen);
      INFO("program " << number << ", " << less << " less: saved " << saved << ", faster by " << gain << ", told " << answer);
      CHECK(answer <= saved);
      CHECK(answer + 300 * kMicrosecond / 100 >= gain);  // each kernel was shortened by the same share, and of some a little more lies in awaited work
      if (less > 0.01) continue;
      gained += gain;
      told_of_little += answer;
      saved_in_all += saved;
    }
  }
  INFO("saved " << saved_in_all << ", faster by " << gained << ", told " << told_of_little);
  CHECK(gained < saved_in_all * 9 / 10);  // some of the saving is hidden
  CHECK(told_of_little < gained * 11 / 10);
}

TEST_CASE("what another thread of the process waits for is awaited, and so is what is asked for again and again") {
  const auto told_of = [](auto&& between) {
    Scenario program;
    Scenario other = program.on_another_thread();
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds t = i * kMillisecond;
      program.kernel("chosen", t, t + kCall, t + 7 * kMicrosecond, t + 500 * kMicrosecond);
      between(program, other, t);
    }
    return told(*program.trace(), 10 * 100 * kMicrosecond, 10 * 493 * kMicrosecond);
  };
  CHECK(told_of([](Scenario&, Scenario&, Nanoseconds) {}) == 100 * kMicrosecond);  // the last kernel, whose end is the program's end
  CHECK(told_of([](Scenario&, Scenario& other, Nanoseconds t) { other.call("cudaEventSynchronize", t + 10 * kMicrosecond, t + 502 * kMicrosecond); }) ==
        10 * 100 * kMicrosecond);
  CHECK(told_of([](Scenario& program, Scenario&, Nanoseconds t) {
          for (Nanoseconds asked = 10; asked < 502; asked += 4) program.call("cudaEventQuery", t + asked * kMicrosecond, t + (asked + 1) * kMicrosecond);
        }) == 10 * 100 * kMicrosecond);
  const auto waits_for_a_lock = [](Scenario& program, Nanoseconds t) { program.os_call("pthread_cond_wait", t + 10 * kMicrosecond, t + 900 * kMicrosecond); };
  const auto is_blocked = [](Scenario& program, Nanoseconds t) { program.state(ThreadState::kBlocked, t + 10 * kMicrosecond, t + 900 * kMicrosecond); };
  // Nothing that waits for the GPU can end this wait, so the answer is the same as if no wait of the thread were known.
  CHECK(told_of([&](Scenario& program, Scenario&, Nanoseconds t) { waits_for_a_lock(program, t); }) == 100 * kMicrosecond);
  CHECK(told_of([&](Scenario& program, Scenario&, Nanoseconds t) { is_blocked(program, t); }) == 100 * kMicrosecond);
  // A thread that waits for the GPU, or a function that the GPU calls, may end it.
  CHECK(told_of([&](Scenario& program, Scenario& other, Nanoseconds t) {
          waits_for_a_lock(program, t);
          other.call("cudaStreamSynchronize", t + 10 * kMicrosecond, t + 502 * kMicrosecond);
        }) == 10 * 100 * kMicrosecond);
  CHECK(told_of([&](Scenario& program, Scenario& other, Nanoseconds t) {
          is_blocked(program, t);
          other.call("cudaMalloc", t + 10 * kMicrosecond, t + 700 * kMicrosecond);
        }) == 10 * 100 * kMicrosecond);
  CHECK(told_of([&](Scenario& program, Scenario&, Nanoseconds t) {
          program.call("cudaLaunchHostFunc", t + 5 * kMicrosecond, t + 9 * kMicrosecond);
          is_blocked(program, t);
        }) == 10 * 100 * kMicrosecond);
  CHECK(told_of([](Scenario& program, Scenario&, Nanoseconds t) { program.call("cudaFree", t + 10 * kMicrosecond, t + 900 * kMicrosecond); }) ==
        10 * 100 * kMicrosecond);  // it waits for the GPU
  CHECK(told_of([](Scenario& program, Scenario&, Nanoseconds t) { program.call("cudaEventRecord", t + 10 * kMicrosecond, t + 900 * kMicrosecond); }) ==
        100 * kMicrosecond);
}

TEST_CASE("of a GPU that several processes use, all is awaited: one may wait while the work of another ends the gap") {
  Scenario program(100);
  Scenario other(program.builder(), 200);
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.kernel("chosen", t, t + kCall, t + 7 * kMicrosecond, t + 400 * kMicrosecond);
    program.call("cudaStreamSynchronize", t + 5 * kMicrosecond, t + 402 * kMicrosecond);
    other.kernel("other", t + 500 * kMicrosecond, t + 504 * kMicrosecond, t + 507 * kMicrosecond, t + 600 * kMicrosecond);
  }
  CHECK(told(*program.trace(), 10 * 100 * kMicrosecond, 10 * 393 * kMicrosecond) == 10 * 100 * kMicrosecond);
}

TEST_CASE("a finding about kernels in front of a slow CPU says so, and comes behind what costs the program more") {
  Scenario program;
  KernelDetail shape;
  shape.grid[0] = 33;  // of 132 multiprocessors
  shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
  shape.block[0] = 256;
  shape.registers_per_thread = 32;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds t = step * 10 * kMillisecond;
    program.range("step " + std::to_string(step), t, t + 10 * kMillisecond);
    program.shaped_kernel("few_blocks", shape, t + 8 * kMicrosecond, t + 4 * kMillisecond, 7, {t, t + kCall});
    program.shaped_kernel("few_blocks", shape, t + 9'008 * kMicrosecond, t + 9'900 * kMicrosecond, 7, {t + 9'000 * kMicrosecond, t + 9'004 * kMicrosecond});
    program.call("cudaDeviceSynchronize", t + 9'010 * kMicrosecond, t + 9'905 * kMicrosecond);
  }
  const std::vector<Finding> grids = test::answer(*program.trace(), "small_grid").findings;
  REQUIRE(grids.size() == 1);
  const Nanoseconds first = 4 * kMillisecond - 8 * kMicrosecond, second = 892 * kMicrosecond;
  CHECK(grids[0].cost == 20 * (first + second) * 3 / 4);
  CHECK(grids[0].cost - grids[0].hidden == 20 * second * 3 / 4);
  CHECK(cost_text(grids[0]).english() == "up to 13.4 ms; 73.3 ms where the CPU keeps up");
  const std::vector<Finding> all = test::findings(*program.trace());
  REQUIRE(all.size() >= 2);
  CHECK(all[0].rule == "gpu_bubbles");
}
