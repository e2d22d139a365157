// Which time is the program's loop, and what belongs to the loop.
#include "answers.h"
#include "loop/iterations.h"
#include "loop/loop_work.h"
#include "model/analysis/diff/diff_words.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/analysis/loop/loop.h"
#include "model/events/launch_index.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/cost.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

constexpr std::uint32_t kXlaDomain = 5;
constexpr const char* kStep = "XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=12#";

// A program of JAX: 4 s of compilation, which now and then runs candidates of kernels, and steps of 10 ms, each an execution of the module jit_step (1 ms on
// the CPU, 4 ms on the GPU), after some small modules. Step `slow` takes 30 ms. Returns when the steps start.
Nanoseconds compile_and_step(Scenario& program, int steps, int slow = -1) {
  program.builder()->set_domain(program.process(), kXlaDomain, "TSL");
  const auto range = [&](const std::string& name, Nanoseconds begin, Nanoseconds end, std::uint32_t depth = 0) {
    program.range(name, begin, end, depth, kXlaDomain);
  };
  for (int i = 0; i < 8; ++i) {
    const Nanoseconds t = i * 500 * kMillisecond;
    range("XlaCompile:#module=jit_step,program_id=12#", t, t + 490 * kMillisecond);
    range("XlaCompileBackend:#module=jit_step,program_id=12#", t, t + 480 * kMillisecond, 1);
    range("XlaAutotunerMeasurement:#hlo_op=custom-call." + std::to_string(i) + "#", t + 100 * kMillisecond, t + 200 * kMillisecond, 2);
    range("XlaModule:#module=jit_step#", t + 300 * kMillisecond, t + 400 * kMillisecond, 2);
    program.kernel("candidate", t + 150 * kMillisecond, t + 151 * kMillisecond, t + 151 * kMillisecond, t + 152 * kMillisecond);
  }
  const Nanoseconds begin = 4'000 * kMillisecond;
  Nanoseconds t = begin;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 3; ++i)
      range("XlaModule:#hlo_module=jit_convert_element_type,program_id=3#", t + i * 100 * kMicrosecond, t + i * 100 * kMicrosecond + 20 * kMicrosecond);
    range(kStep, t + kMillisecond, t + 2 * kMillisecond);
    range("Thunk:#hlo_op=fusion.1#", t + kMillisecond, t + kMillisecond + 50 * kMicrosecond, 1);
    program.kernel("fusion", t + kMillisecond, t + kMillisecond + 5'000, t + kMillisecond + 10'000, t + 5 * kMillisecond + 10'000);
    t += (step == slow ? 30 : 10) * kMillisecond;
  }
  return begin;
}

// The measurements of XLA's autotuner: 30 executions of modules with one multiplication each, of 0.6 ms, on a thread of the process.
enum class Autotuned : std::uint8_t {
  kWithinMeasurement,  // ranges show it: "XlaCompileBackend" of the thread that compiles
  kUnmarked,           // nothing shows it
};
void autotune(Scenario& program, Autotuned how) {
  if (how == Autotuned::kWithinMeasurement)
    program.range("XlaCompileBackend:#module=jit_step,program_id=12#", 3'992 * kMillisecond - 30 * kMillisecond, 3'992 * kMillisecond, 0, kXlaDomain);
  Scenario measuring = program.on_another_thread();
  for (int i = 0; i < 30; ++i) {
    const Nanoseconds t = 3'965 * kMillisecond + i * 800 * kMicrosecond;
    measuring.range("XlaModule:#prefix=,hlo_module=gemm_fusion_dot." + std::to_string(40 + i) + ",program_id=" + std::to_string(100 + i) + "#", t,
                    t + 600 * kMicrosecond, 0, kXlaDomain);
    measuring.kernel("candidate", t, t + 5'000, t + 10'000, t + 100'000);
  }
}

}  // namespace

TEST_CASE("what a compiler measures is not taken for the program's loop") {
  const Autotuned how = GENERATE(Autotuned::kWithinMeasurement, Autotuned::kUnmarked);
  CAPTURE(static_cast<int>(how));
  Scenario program;
  program.builder()->set_domain(program.process(), kXlaDomain, "TSL");
  autotune(program, how);
  // 40 executions of 0.1 ms that enqueue 3 ms of work each: less CPU time than the measurements.
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds t = (4'000 + 9 * step) * kMillisecond;
    program.range(kStep, t, t + 100 * kMicrosecond, 0, kXlaDomain);
    program.kernel("fusion", t, t + 5'000, t + 10'000, t + 3 * kMillisecond);
  }
  const auto trace = program.trace();
  Families families(*trace);
  const Loop loop(*trace, families);
  REQUIRE(loop.known());
  CHECK_THAT(families.text(loop.family()), contains_text("hlo_module=jit_step"));
  CHECK(loop.iterations() == 39);
  CHECK(loop.of(program.process())->begin == 4'000 * kMillisecond);
}

TEST_CASE("iterations count at whatever nesting level of their thread they lie") {
  // 40 steps of 1 ms; the first 20 lie inside a range, and each holds a range of another family.
  Scenario program;
  program.range("warm phase", 0, 20 * kMillisecond);
  for (int step = 0; step < 40; ++step) {
    const std::uint32_t depth = step < 20 ? 1 : 0;
    program.range("step " + std::to_string(step), step * kMillisecond, (step + 1) * kMillisecond, depth);
    program.range("forward", step * kMillisecond, step * kMillisecond + 100 * kMicrosecond, depth + 1);
  }
  const auto trace = program.trace();
  Families families(*trace);
  const auto series = find_iterations(*trace, families);
  REQUIRE(series.size() == 1);
  CHECK(families.text(series.front().family) == "step *");
  const auto times = iteration_times(*trace, series.front());
  REQUIRE(times.size() == 40);
  for (int step = 0; step < 40; ++step) CHECK(times[step].begin == step * kMillisecond);
}

TEST_CASE("ranges of the loop's family inside another of it are counted, in the summary and in the comparison") {
  const bool is_in_phase = GENERATE(false, true);  // whether the first 20 steps lie a level deeper
  CAPTURE(is_in_phase);
  Scenario program;
  if (is_in_phase) program.range("warm phase", 0, 20 * kMillisecond);
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds t = step * kMillisecond;
    const std::uint32_t depth = is_in_phase && step < 20 ? 1 : 0;
    program.range("step " + std::to_string(step), t, t + kMillisecond, depth);
    if (step % 20 == 5) program.range("step " + std::to_string(1000 + step), t + 200 * kMicrosecond, t + 400 * kMicrosecond, depth + 1);
    program.kernel("k", t, t + 5'000, t + 6'000, t + 900 * kMicrosecond);
  }
  const auto trace = program.trace();
  Families families(*trace);
  const Loop loop(*trace, families);
  CHECK(loop.iterations() == 40);
  CHECK(loop.inside() == 2);
  CHECK_THAT(answer(*trace, "gpu_bubbles").summary, contains_text("2 ranges that lie inside another iteration do not count."));
  const auto diff = compare_traces(*trace, *trace);
  REQUIRE(diff);
  CHECK(diff->first_inside == 2);
  CHECK_THAT(alignment_words(*diff), contains_text("40 (without 2 inside another) in A"));
}

TEST_CASE("very many families at several nesting levels take no passage over the trace each") {
  // 100,000 families at two levels of a thread: a passage for each would be over 20 billion ranges.
  Scenario program;
  const auto name = [](int i) {
    std::string letters;
    for (; letters.size() < 4; i /= 26) letters += static_cast<char>('a' + i % 26);
    return letters;
  };
  for (int i = 0; i < 100'000; ++i) {
    const Nanoseconds t = i * kMicrosecond;
    program.range(name(i), t, t + 800);
    program.range(name((i * 7 + 3) % 100'000), t + 100, t + 500, 1);
  }
  const auto trace = program.trace();
  const lanescope::test::Cost cost = lanescope::test::cost_of([&] {
    Families families(*trace);
    CHECK(find_iterations(*trace, families, "").empty());
  });
  CHECK(cost.seconds < lanescope::test::kMostSeconds);
}

TEST_CASE("the iterations of epochs are the steps in them, not the parts of steps") {
  // 8 epochs of 20 steps of 1 ms; the first half of each step is "forward".
  const std::string step_name = GENERATE("step ", "train_step", "Batch: [");
  const bool is_numbered = step_name != "train_step";
  CAPTURE(step_name);
  Scenario program;
  for (int epoch = 0; epoch < 8; ++epoch) {
    program.range("Epoch " + std::to_string(epoch), 20 * epoch * kMillisecond, 20 * (epoch + 1) * kMillisecond);
    for (int step = 0; step < 20; ++step) {
      const Nanoseconds t = (20 * epoch + step) * kMillisecond;
      program.range(is_numbered ? step_name + std::to_string(step) + (step_name.ends_with('[') ? "/20]" : "") : step_name, t, t + 950 * kMicrosecond, 1);
      program.range("forward", t, t + 500 * kMicrosecond, 2);
    }
  }
  const auto trace = program.trace();
  Families families(*trace);
  const auto series = find_iterations(*trace, families);
  REQUIRE(series.size() == 1);
  CHECK(families.text(series.front().family) == (step_name == "step " ? "step *" : is_numbered ? "Batch: [*/*]" : "train_step"));
  CHECK(series.front().ranges.size() == 160);
}

TEST_CASE("idle time in iterations is not said to lie in the range around them") {
  Scenario program;
  for (int epoch = 0; epoch < 8; ++epoch) {
    program.range("epoch " + std::to_string(epoch), 20 * epoch * kMillisecond, 20 * (epoch + 1) * kMillisecond);
    for (int step = 0; step < 20; ++step) {  // idle for 300 us of each step, 50 of these between steps
      const Nanoseconds t = (20 * epoch + step) * kMillisecond;
      program.range("step " + std::to_string(step), t, t + 950 * kMicrosecond, 1);
      program.kernel("k", t, t + 5'000, t + 6'000, t + 706'000);
    }
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE_FALSE(bubbles.findings.empty());
  CHECK_THAT(bubbles.findings[0].title, contains_text("the loop \"step *\"") && !contains_text("epoch"));
}

TEST_CASE("epochs whose steps are not marked are the iterations") {
  Scenario program;
  for (int epoch = 0; epoch < 8; ++epoch) {
    program.range("epoch " + std::to_string(epoch), 20 * epoch * kMillisecond, 20 * (epoch + 1) * kMillisecond);
    for (int step = 0; step < 20; ++step) {
      const Nanoseconds t = (20 * epoch + step) * kMillisecond;
      program.range("forward", t, t + 300 * kMicrosecond, 1);
      program.range("backward", t + 300 * kMicrosecond, t + kMillisecond, 1);
    }
  }
  const auto trace = program.trace();
  Families families(*trace);
  CHECK(Loop(*trace, families).iterations() == 8);
}

TEST_CASE("requests that threads take in turn are the iterations of one loop") {
  // 80 requests of 1 ms, one after the other, each on another of three threads than the one before.
  Scenario program;
  std::vector<Scenario> threads{program};
  for (int i = 1; i < 3; ++i) threads.push_back(threads.back().on_another_thread());
  const bool at_once = GENERATE(false, true);  // whether one of them begins before the one before has ended
  CAPTURE(at_once);
  for (int request = 0; request < 80; ++request) {
    Scenario& thread = threads[request % 3];
    const Nanoseconds t = request * kMillisecond, end = t + (request == 40 ? kMillisecond + 100 * kMicrosecond * (at_once ? 1 : -1) : 900 * kMicrosecond);
    thread.range("request " + std::to_string(request), t, end);
    thread.kernel("k", t, t + 5'000, t + 6'000, t + 700 * kMicrosecond);
  }
  const auto trace = program.trace();
  Families families(*trace);
  const auto series = find_iterations(*trace, families);
  REQUIRE(series.size() == 1);
  const auto times = iteration_times(*trace, series.front());
  CHECK(Loop(*trace, families).elsewhere() == (at_once ? 53 : 0));
  const auto diff = compare_traces(*trace, *trace);
  REQUIRE(diff);
  if (at_once) {
    CHECK(times.size() == 27);
    CHECK_THAT(answer(*trace, "gpu_bubbles").summary, contains_text("53 ranges like them on other threads at the same time do not count."));
    CHECK_THAT(alignment_words(*diff), contains_text("27 (without 53 on other threads at the same time) in A"));
    return;
  }
  REQUIRE(times.size() == 80);
  for (int request = 0; request < 80; ++request) CHECK(times[request] == TimeRange{request * kMillisecond, request * kMillisecond + 900 * kMicrosecond});
  CHECK_THAT(alignment_words(*diff), contains_text("80 in A"));
}

TEST_CASE("a slow request is found on the thread that served it") {
  Scenario program;
  std::vector<Scenario> threads{program};
  for (int i = 1; i < 4; ++i) threads.push_back(threads.back().on_another_thread());
  Nanoseconds t = 0;
  for (int request = 0; request < 80; ++request) {
    const Nanoseconds length = request == 41 ? 9 * kMillisecond : kMillisecond;
    threads[request % 4].range("request " + std::to_string(request), t, t + length);
    t += length;
  }
  const auto trace = program.trace();
  const RuleAnswer tail = answer(*trace, "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("1 of 80 iterations"));
  CHECK(tail.findings[0].place.range == TimeRange{41 * kMillisecond, 50 * kMillisecond});
  CHECK(trace->threads()[tail.findings[0].place.thread].tid == trace->processes()[program.process()].pid + 1);  // the second thread
}

TEST_CASE("an iteration in which another rank warms up is slow for no rule") {
  // Two ranks with 20 steps of 1 ms each. In the first one, the first rank takes 5 ms, and the other one 1.4 ms: less than one and a half times the median.
  Scenario first(100), second(first.builder(), 200);
  second.on_gpu(1);
  for (int step = 0; step < 20; ++step)
    for (Scenario* const rank : {&first, &second}) {
      const Nanoseconds t = step == 0 ? 0 : (4 + step) * kMillisecond;
      const Nanoseconds length = step > 0 ? kMillisecond : rank == &first ? 5 * kMillisecond : kMillisecond + 400 * kMicrosecond;
      rank->range("step " + std::to_string(step), t, t + length);
      rank->kernel("k", t, t + 5'000, t + 6'000, t + length / 2);
    }
  const auto trace = first.trace();
  CHECK_THAT(answer(*trace, "gpu_bubbles").summary, contains_text("38 iterations of 2 ranks together"));
  CHECK(answer(*trace, "tail").findings.empty());
  CHECK(iteration_lengths(*trace) == std::vector<Nanoseconds>(38, kMillisecond));
}

TEST_CASE("a range that ends a nanosecond late does not hide the next iteration") {
  Scenario program;
  for (int step = 0; step < 30; ++step) {
    const bool pushed = step % 3 == 1;  // step 0, 3, 6, ... end late, so the next lies a level deeper
    program.range("step " + std::to_string(step), step * kMillisecond, (step + 1) * kMillisecond + (step % 3 == 0 ? 1 : 0), pushed ? 1 : 0);
  }
  const auto trace = program.trace();
  Families families(*trace);
  const auto series = find_iterations(*trace, families);
  REQUIRE(series.size() == 1);
  const auto times = iteration_times(*trace, series.front());
  REQUIRE(times.size() == 30);
  for (int step = 0; step < 30; ++step) {
    CHECK(times[step].begin == step * kMillisecond);
    CHECK(times[step].end == (step + 1) * kMillisecond + (step == 29 && step % 3 == 0 ? 1 : 0));
  }
}

TEST_CASE("an outer range of the same family does not take the place of the iterations in it") {
  Scenario program;
  program.range("step 0", 0, 40 * kMillisecond);
  for (int step = 0; step < 40; ++step) program.range("step " + std::to_string(step + 1), step * kMillisecond, (step + 1) * kMillisecond, 1);
  const auto trace = program.trace();
  Families families(*trace);
  const auto series = find_iterations(*trace, families);
  REQUIRE(series.size() == 1);
  CHECK(series.front().ranges.size() == 40);
}

TEST_CASE("executions without GPU work are told from those of the compiler by its ranges") {
  Scenario program;
  program.builder()->set_domain(program.process(), kXlaDomain, "TSL");
  autotune(program, Autotuned::kWithinMeasurement);
  for (int step = 0; step < 40; ++step)
    program.range(kStep, (4'000 + 9 * step) * kMillisecond, (4'000 + 9 * step) * kMillisecond + 100 * kMicrosecond, 0, kXlaDomain);
  const auto trace = program.trace();
  Families families(*trace);
  CHECK(Loop(*trace, families).iterations() == 39);
  const std::vector<IterationSeries> measured = find_iterations(*trace, families, "XlaModule:#prefix=,hlo_module=gemm_fusion_dot.40,program_id=100#");
  REQUIRE(measured.size() == 1);  // only if they are asked for
  CHECK(measured.front().ranges.size() == 30);
}

TEST_CASE("which of XLA's modules is the loop is told without an index of all launches") {
  Scenario program;
  compile_and_step(program, 50);
  const auto trace = program.trace();
  Families families(*trace);
  SharedLaunchIndex launches;
  const auto series = find_iterations(*trace, families, {}, launches);
  REQUIRE(series.size() == 1);
  CHECK_THAT(families.text(series.front().family), contains_text("hlo_module=jit_step"));
  CHECK_FALSE(launches.is_made());
}

TEST_CASE("of many executions of XLA an even selection tells which module takes most of the GPU's time") {
  // Two modules take turns 3,000 times. Each enqueues two kernels: "small" takes more of the GPU's time in the first half alone.
  Scenario program;
  program.builder()->set_domain(program.process(), kXlaDomain, "TSL");
  constexpr int kTurns = 3'000;
  const auto execute = [&](const std::string& module, Nanoseconds t, Nanoseconds each) {
    program.range("XlaModule:#prefix=,hlo_module=" + module + ",program_id=1#", t, t + 20 * kMicrosecond, 0, kXlaDomain);
    for (int k = 0; k < 2; ++k)
      program.kernel(module, t + k * 5 * kMicrosecond, t + k * 5 * kMicrosecond + 4'000, t + 20 * kMicrosecond + k * each,
                     t + 20 * kMicrosecond + (k + 1) * each);
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    const Nanoseconds t = turn * kMillisecond;
    execute("small", t, turn < kTurns / 2 ? 40 * kMicrosecond : 10 * kMicrosecond);  // 150 ms in all
    execute("large", t + kMillisecond / 2, 30 * kMicrosecond);                       // 180 ms
  }
  const auto trace = program.trace();
  Families families(*trace);
  SharedLaunchIndex launches;
  const auto series = find_iterations(*trace, families, {}, launches);
  REQUIRE(series.size() == 1);
  CHECK_THAT(families.text(series.front().family), contains_text("hlo_module=large"));
  CHECK_FALSE(launches.is_made());
}

TEST_CASE("what repeats in a trace of PyTorch's profiler is no loop behind a setup") {
  const bool is_of_pytorch = GENERATE(false, true);
  Scenario program;
  if (is_of_pytorch) program.builder()->provenance().producer = "PyTorch Profiler";
  program.kernel("embedding", 0, 5'000, 10'000, 500'000);
  for (int layer = 1; layer <= 30; ++layer)
    program.kernel("layer", layer * kMillisecond, layer * kMillisecond + 5'000, layer * kMillisecond + 10'000, layer * kMillisecond + 500'000);
  CHECK(loop_times(*program.trace()).empty() == is_of_pytorch);
}

TEST_CASE("a program without a GPU has a loop, too") {
  Scenario program;
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) program.range("tick", step * kMillisecond, (step + 1) * kMillisecond);
  const auto trace = program.trace();
  const auto loops = loop_times(*trace);
  REQUIRE(loops.size() == 1);
  CHECK(loops.begin()->second.name == "tick");
  CHECK(loops.begin()->second.iterations == kSteps);
  CHECK(loops.begin()->second.time == TimeRange{0, kSteps * kMillisecond});
}

TEST_CASE("where compilation comes first, the executions of the module that takes most time are the iterations") {
  Scenario program;
  const Nanoseconds begin = compile_and_step(program, 20);
  const auto trace = program.trace();
  Families families(*trace);
  const Loop loop(*trace, families);
  REQUIRE(loop.known());
  CHECK(loop.iterations() == 19);  // from one to the next
  CHECK(loop.of(program.process())->begin == begin + kMillisecond);
  CHECK_THAT(families.text(loop.family()), contains_text("hlo_module=jit_step"));

  const RuleAnswer bubbles = answer(*trace, "gpu_bubbles");
  REQUIRE(bubbles.findings.size() == 2);
  CHECK(bubbles.findings[0].key == "cpu_code");
  CHECK_THAT(bubbles.findings[0].title, contains_text("of the loop of module \"jit_step\""));
  CHECK(static_cast<double>(bubbles.findings[0].cost) == Approx(19 * 6e6).epsilon(0.01));  // 10 ms less 4 ms of work
  CHECK(bubbles.findings[1].key == "setup");
}

TEST_CASE("an execution lasts until the next begins, and one that comes late is slow") {
  Scenario program;
  compile_and_step(program, 30, 17);
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("1 of 29 iterations"));
  CHECK(tail.findings[0].cost == 20 * kMillisecond);
  CHECK(tail.findings[0].place.range.length() == 30 * kMillisecond);
}

TEST_CASE("two runs of a compiled program are compared by the executions of its module") {
  Scenario before, after;
  compile_and_step(before, 20);
  compile_and_step(after, 30);
  const auto diff = compare_traces(*before.trace(), *after.trace());
  REQUIRE(diff);
  CHECK_THAT(diff->aligned_by, contains_text("hlo_module=jit_step"));
  CHECK(diff->first_iterations == 19);
  CHECK(diff->items.front().first.per_iteration == 10 * kMillisecond);
}

TEST_CASE("ranges that a compiled program marks itself come before the executions of its modules") {
  Scenario program;
  const Nanoseconds begin = compile_and_step(program, 20);
  for (int step = 0; step < 10; ++step)
    program.range("epoch " + std::to_string(step), begin + 20 * step * kMillisecond, begin + (20 * step + 19) * kMillisecond);
  const auto trace = program.trace();
  Families families(*trace);
  CHECK(families.text(Loop(*trace, families).family()) == "epoch *");
}

TEST_CASE("what was enqueued before the loop is not the loop's, though GPUs do it while the CPU is there") {
  Scenario program;
  const auto ms = [](Nanoseconds count) { return count * kMillisecond; };
  program.range("setup", 0, ms(1));
  for (int i = 0; i < 20; ++i)  // 200 ms of copies
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1 << 28, i * 10'000, i * 10'000 + 5'000, ms(1 + 10 * i), ms(11 + 10 * i));
  for (int step = 0; step < 40; ++step) {  // then 80 ms of kernels, for which the last step waits
    const Nanoseconds t = ms(1 + step);
    program.range("step " + std::to_string(step), t, step == 39 ? ms(281) : t + ms(1));
    program.kernel("k", t, t + 5'000, ms(201 + 2 * step), ms(203 + 2 * step));
  }
  program.call("cudaDeviceSynchronize", ms(40) + 10'000, ms(281));
  CHECK(answer(*program.trace(), "no_overlap").findings.empty());
  CHECK_THAT(answer(*program.trace(), "gpu_bubbles").summary, contains_text("80.0 ms in the loop"));
}

TEST_CASE("idle time in front of work that was enqueued before the loop is not the loop's") {
  // A first step of 20 ms warms up. Its kernel waits for 8 ms, of which 7 ms lie in the loop, and the first step of the loop has waited for it.
  Scenario program;
  const auto ms = [](Nanoseconds count) { return count * kMillisecond; };
  program.range("step 0", 0, ms(20));
  program.kernel("k", 0, 5'000, 5'000, ms(19));
  program.kernel("late", ms(19), ms(19) + 5'000, ms(27), ms(28));
  for (int step = 1; step < 20; ++step) {  // 2 ms each: the GPU works for one of them
    const Nanoseconds t = ms(18 + 2 * step);
    program.range("step " + std::to_string(step), t, t + ms(2));
    program.kernel("k", t, t + 5'000, ms(28) + ms(2) * (step - 1), ms(29) + ms(2) * (step - 1));
  }
  const auto trace = program.trace();
  const RuleAnswer bubbles = answer(*trace, "gpu_bubbles:gap=1ns");
  // From 28 ms on, where the work from before ends, to 65 ms: 19 kernels of 1 ms, and 18 gaps of 1 ms between them.
  CHECK_THAT(bubbles.summary, contains_text("idle for 18.0 ms of 37.0 ms"));
  const auto cost_of = [&](Recurrence recurrence) {
    Nanoseconds cost = 0;
    for (const Finding& finding : bubbles.findings) cost += finding.recurrence == recurrence ? finding.cost : 0;
    return cost;
  };
  CHECK(cost_of(Recurrence::kRecurring) == ms(18));
  CHECK(cost_of(Recurrence::kOnce) == ms(8));
}

// For each snapshot of a recording the loop is looked for, which must not read all calls each time.
TEST_CASE("the edges of a loop are found without an index of all calls, and are the same as with one") {
  test::Scenario program;
  Nanoseconds t = 0, gpu = 0;
  const auto step = [&](const std::string& name) {
    const Nanoseconds begin = t;
    for (int i = 0; i < 200; ++i) {  // the GPU lags behind more and more
      gpu = std::max(gpu, t + 20'000);
      program.kernel("k", t, t + 5'000, gpu, gpu + 12'000);
      gpu += 12'000;
      t += 10'000;
    }
    if (!name.empty()) program.range(name, begin, t);
    t += 1'000;
  };
  step("");  // before the loop
  for (int i = 0; i < 20; ++i) step("step " + std::to_string(i));
  step("");  // behind it
  const auto trace = program.trace();
  const analysis::RuleContext without{.trace = *trace}, with{.trace = *trace};
  static_cast<void>(with.launch_index->of(*trace));
  const analysis::LoopWork few(without), all(with);
  CHECK_FALSE(without.launch_index->is_made());
  CHECK(few.loop().iterations() == 20);
  CHECK(few.of_process(0) == all.of_process(0));
  CHECK(few.of_gpu(0, trace->extent()) == all.of_gpu(0, trace->extent()));
  const LaneId kernels = trace->tracks()[trace->tracks_of(0, TrackKind::kKernels).front()].lanes.front();
  for (EventIndex i = 0; i < 4'400; ++i) {
    const EventRef kernel{kernels, i};
    REQUIRE(few.has(kernel) == all.has(kernel));
    REQUIRE(few.has(kernel) == (i >= 200 && i < 4'200));  // those that were enqueued in steps
  }
}
