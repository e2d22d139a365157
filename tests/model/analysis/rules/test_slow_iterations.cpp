// Iterations that are much slower than usual (the rule "tail"): which these are, what they cost, and what differs in them.
#include <algorithm>

#include "answers.h"
#include "model/analysis/rule.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

// 100 steps of 8 ms on the CPU, each of which enqueues 20 ms of GPU work; every tenth waits for all of it. Step `slow` runs code for 100 ms more.
Scenario running_ahead(int slow = -1) {
  Scenario program;
  Nanoseconds t = 0, gpu_is_free = 0;
  for (int step = 0; step < 100; ++step) {
    const Nanoseconds begin = std::max(gpu_is_free, t + 6'000);
    gpu_is_free = begin + 20 * kMillisecond;
    program.kernel("k", t, t + 5'000, begin, gpu_is_free);
    Nanoseconds end = t + (step == slow ? 108 : 8) * kMillisecond;
    if (step % 10 == 9) {
      program.call("cudaStreamSynchronize", end, gpu_is_free + 10'000);
      end = gpu_is_free + 10'000;
    }
    program.range("step " + std::to_string(step), t, end);
    t = end;
  }
  return program;
}

}  // namespace

TEST_CASE("slow iterations that cost little are no finding, and neither is one that was under way when the recording began") {
  Scenario program;
  program.range("step 0", 0, 90 * kMillisecond);  // its GPU work came earlier
  for (int step = 1; step < 100; ++step) {
    const Nanoseconds t = (80 + step * 10) * kMillisecond, length = step == 50 ? 13 * kMillisecond : 10 * kMillisecond;
    const Nanoseconds begin = t + (step > 50 ? 3 * kMillisecond : 0);
    program.range("step " + std::to_string(step), begin, begin + length);
    program.kernel("k", begin, begin + 5'000, begin + 6'000, begin + length - 1'000);
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  CHECK(tail.findings.empty());
  REQUIRE(tail.tables.size() == 1);
  CHECK(tail.tables[0].table.row_count() == 1);  // step 50
  CHECK(answer(*program.trace(), "tail:share=0.1").findings.size() == 1);
}

TEST_CASE("slow iterations are compared with the median of those that are no warm-up") {
  Scenario program;
  Nanoseconds t = 0;
  int step = 0;
  for (const Nanoseconds length : {100, 100, 10, 12, 10, 12, 10, 40, 12, 10}) {  // ms; the median of the last eight is 11
    program.range("step " + std::to_string(step++), t, t + length * kMillisecond);
    program.kernel("k", t, t + 5'000, t + 6'000, t + length * kMillisecond - 1'000);
    t += length * kMillisecond;
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("1 of 8 iterations"));
  CHECK_THAT(tail.findings[0].title, contains_text("the median of 11.0 ms"));
  CHECK(tail.findings[0].cost == 29 * kMillisecond);
}

TEST_CASE("slow iterations are weighed by the time of their own program, and said to cost little where they do") {
  const auto builder = std::make_shared<TraceBuilder>();
  for (const std::uint32_t pid : {100u, 200u}) {  // two consecutive programs, a minute apart; the first has a step of 8 ms among 19 of 3 ms
    Scenario program(builder, pid);
    program.on_gpu(pid == 100 ? 0 : 1);
    Nanoseconds t = pid == 100 ? 0 : 60'000 * kMillisecond;
    for (int step = 0; step < 20; ++step) {
      const Nanoseconds length = pid == 100 && step == 11 ? 8 * kMillisecond : 3 * kMillisecond;
      program.range("step " + std::to_string(step), t, t + length);
      program.kernel("train", t, t + 5'000, t + 8'000, t + length);
      t += length;
    }
  }
  const RuleAnswer tail = answer(*builder->snapshot(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK(tail.findings[0].cost == 5 * kMillisecond);  // 8 % of 65 ms
  CHECK_THAT(answer(*builder->snapshot(), "gpu_bubbles").summary, contains_text(", 40 iterations of 2 runs, one after the other"));
  const RuleAnswer little = answer(*builder->snapshot(), "tail:share=10");
  CHECK(little.findings.empty());
  CHECK(little.tables.size() == 1);
  CHECK(little.message.english() == "Iterations that are much slower than the median cost little time.");
}

TEST_CASE("an iteration that only waits for what others enqueued is not slow") {
  const RuleAnswer tail = answer(*running_ahead().trace(), "tail:share=0");
  CHECK(tail.findings.empty());
  CHECK(tail.tables.empty());
}

TEST_CASE("an iteration of a program that runs ahead costs the time for which it left the GPU idle") {
  const RuleAnswer tail = answer(*running_ahead(55).trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("1 of 100 iterations"));
  CHECK(tail.findings[0].cost == 27'994'000);  // 108 ms, less the 80.006 ms for which the queue lasts: six kernels, since 40 ms
  CHECK_THAT(tail.findings[0].seen, contains_text("idle GPU while the launching thread ran CPU code: 28.0 ms"));
}

TEST_CASE("an iteration that waits behind a full queue while the GPU waits for an event is not slow") {
  // Steps of 2 ms on the CPU, each with a kernel of 10 ms; a queue holds four. Before the kernel of step 20 the GPU waits 50 ms for an event. The thread waits
  // for as long, in a launch: in step 23 or 24, which enqueued none of the work that waits.
  Scenario program;
  std::vector<Nanoseconds> ends;
  Nanoseconds t = 0, free = 0;
  for (int step = 0; step < 60; ++step) {
    const Nanoseconds begin = t, call = begin + 2 * kMillisecond;
    const Nanoseconds returns = std::max(call + 5'000, step < 4 ? 0 : ends[static_cast<std::size_t>(step) - 4] + 5'000);
    const Nanoseconds starts = std::max(free + 1'000, returns) + (step == 20 ? 50 * kMillisecond : 0);
    free = starts + 10 * kMillisecond;
    ends.push_back(free);
    program.kernel("k", call, returns, starts, free);
    t = returns + 10'000;
    program.range("step " + std::to_string(step), begin, t);
  }
  const RuleAnswer tail = answer(*program.trace(), "tail:share=0");
  CHECK(tail.findings.empty());
  CHECK(tail.tables.empty());

  // If a step waits for an event of its own, it is slow.
  Scenario own;
  t = 0;
  for (int step = 0; step < 60; ++step) {
    const Nanoseconds waits = step == 20 ? 50 * kMillisecond : 20'000, starts = t + 5'000 + waits, end = starts + 10 * kMillisecond;
    own.kernel("k", t, t + 5'000, starts, end);
    own.call("cudaStreamSynchronize", t + 6'000, end + 2'000);
    own.range("step " + std::to_string(step), t, end + 3'000);
    t = end + 4'000;
  }
  const RuleAnswer slow = answer(*own.trace(), "tail");
  REQUIRE(slow.findings.size() == 1);
  CHECK(slow.findings[0].cost == 50 * kMillisecond - 20'000);
  CHECK_THAT(slow.findings[0].seen, contains_text("idle GPU because the next operation, though enqueued, had not started: 50.0 ms (100 %)"));
}

TEST_CASE("what another process has the GPU do is no GPU work of this one's slow iteration") {
  // Steps of 10 ms with a kernel of 4 ms. In step 11 the kernel starts 20 ms later, because another process uses the GPU.
  Scenario program(100), other(program.builder(), 200);
  Nanoseconds t = 0;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds later = step == 11 ? 20 * kMillisecond : 0;
    if (later > 0) other.kernel("theirs", t - 1'000, t + 4'000, t + 6'000, t + later);
    program.kernel("k", t, t + 5'000, t + later + 8'000, t + later + 4 * kMillisecond);
    program.call("cudaStreamSynchronize", t + 6'000, t + later + 4 * kMillisecond + 5'000);
    program.range("step " + std::to_string(step), t, t + later + 10 * kMillisecond);
    t += later + 10 * kMillisecond;
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK(tail.findings[0].cost == 20 * kMillisecond);
  CHECK_THAT(tail.findings[0].seen, contains_text("time in which other processes used the GPU: 20.0 ms") && !contains_text("GPU work"));
}

TEST_CASE("iterations that the chosen time cuts are no samples, in recordings with counters either") {
  // Steps of 10 ms; in each, reading the kernel's counters takes 4 to 5 ms more. The chosen time ends during the reading of step 15.
  Scenario program;
  Nanoseconds t = 0;
  std::uint32_t launches = 0;
  TimeRange chosen;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds reading = (4 + step % 2) * kMillisecond;
    if (step == 5) chosen.begin = t - 1'000;
    if (step == 15) chosen.end = t + 1'000'000;
    program.kernel("read", t + 10'000, t + 10'000 + reading, t + 5'000 + reading, t + 6'000 + reading);
    program.builder()->add(MeasuredLaunch{program.process(), ++launches, KernelReplay::kKernel, 3, {}, 0, {}});
    program.kernel("k", t + 20'000 + reading, t + 25'000 + reading, t + 30'000 + reading, t + reading + 9 * kMillisecond);
    ++launches;
    program.call("cudaStreamSynchronize", t + 26'000 + reading, t + reading + 9 * kMillisecond + 1'000);
    program.range("step " + std::to_string(step), t, t + reading + 10 * kMillisecond);
    t += reading + 10 * kMillisecond;
  }
  const auto answers = apply_rules(*program.trace(), std::vector{*parse_rule("tail:share=0:slower=10")}, {}, chosen);
  REQUIRE(answers);
  CHECK(answers->front().findings.empty());
  CHECK(answers->front().tables.empty());
}

TEST_CASE("processes that are slow in the same iterations at the same time are one finding, which names them") {
  // Three processes that meet in a way that was not recorded, each on a GPU of its own: in steps 5 and 12 the first takes 25 ms longer, the others 20 ms.
  const auto program_of = [](bool at_one_time) {
    const auto builder = std::make_shared<TraceBuilder>();
    for (std::uint32_t number = 0; number < 3; ++number) {
      Scenario program(builder, 100 + number);
      program.on_gpu(number);
      Nanoseconds t = at_one_time ? 0 : number * 10'000 * kMillisecond;
      for (int step = 0; step < 20; ++step) {
        const bool is_slow = step == 5 || step == 12;
        const Nanoseconds later = is_slow ? (number == 0 ? 25 : 20) * kMillisecond : 0, next = t + (is_slow ? 25 * kMillisecond : 0) + 10 * kMillisecond;
        program.range("step " + std::to_string(step), t, t + later + 10 * kMillisecond);
        program.kernel("k", t + later, t + later + 5'000, t + later + 8'000, t + later + 9 * kMillisecond);
        t = next;
      }
    }
    return builder->snapshot();
  };
  const RuleAnswer tail = answer(*program_of(true), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK(tail.findings[0].cost == 2 * 25 * kMillisecond);
  CHECK_THAT(tail.findings[0].title, contains_text("of [100] program took"));
  CHECK_THAT(tail.findings[0].seen, contains_text("The same iterations took longer on 2 other ranks as well: [101] program, [102] program."));
  CHECK(test::table_named(tail, "tail").row_count() == 6);
  CHECK(answer(*program_of(false), "tail").findings.size() == 3);  // one after the other
}

TEST_CASE("of several GPUs, an iteration is longer by what one of them has more of, not by the sum") {
  Scenario program;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds later = step > 10 ? 20 * kMillisecond : 0, t = step * 10 * kMillisecond + later;
    const Nanoseconds code = step == 10 ? 21 * kMillisecond : kMillisecond;  // of the CPU, before both launches
    program.range("step " + std::to_string(step), t, t + code + 8 * kMillisecond);
    program.kernel("k", t + code, t + code + 5'000, t + code + 6'000, t + code + 7 * kMillisecond);
    program.on_gpu(1).kernel("k", t + code + 5'000, t + code + 10'000, t + code + 11'000, t + code + 7 * kMillisecond);
    program.on_gpu(0);
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK(tail.findings[0].cost == 20 * kMillisecond);
  CHECK_THAT(tail.findings[0].seen, contains_text("idle GPU while the launching thread ran CPU code: 20.0 ms (100 %) more in them"));
}

TEST_CASE("a slow iteration of a program without a GPU is laid to what its thread did, and nothing is said of GPUs") {
  const auto slow = [](ThreadState state) {
    Scenario program;
    Nanoseconds t = 0;
    for (int step = 0; step < 20; ++step) {
      const bool is_slow = step == 7;
      const Nanoseconds end = t + (is_slow ? 11 : 1) * kMillisecond;
      program.range("step " + std::to_string(step), t, end);
      if (is_slow) {
        program.range("odd", t + kMillisecond, end, 1);
        program.state(ThreadState::kRunning, t, t + kMillisecond);
        program.state(state, t + kMillisecond, end);
      } else {
        program.state(ThreadState::kRunning, t, end);
      }
      t = end;
    }
    const RuleAnswer tail = answer(*program.trace(), "tail");
    REQUIRE(tail.findings.size() == 1);
    for (const Message* text : {&tail.findings.front().seen, &tail.findings.front().advice, &tail.findings.front().title})
      CHECK_THAT(text->english(), !contains_text("GPU") && !contains_text("kernel"));
    return tail;
  };
  const RuleAnswer blocked = slow(ThreadState::kBlocked);
  CHECK_THAT(
      blocked.findings.front().seen.english(),
      contains_text("What differs most from a usual one is Blocked in the operating system (odd): 10.0 ms more, in 1 of them. The slowest took 11.0 ms."));
  CHECK(lanescope::test::integer(blocked.tables.front().table, 0, "Excess") == 10 * kMillisecond);
  CHECK_THAT(slow(ThreadState::kRunnable).findings.front().advice.english(), contains_text("Leave the program more processors"));
  CHECK_THAT(slow(ThreadState::kRunning).findings.front().advice.english(), contains_text("Look at what the thread ran then"));
}

TEST_CASE("slow iterations are laid to what they have most of together, not to what the slowest has") {
  // 100 steps of 1 ms: each tenth takes 3 ms longer in "checkpoint", step 50 takes 3.2 ms longer in "log".
  Scenario program;
  Nanoseconds t = 0, first_checkpoint = 0;
  for (int step = 0; step < 100; ++step) {
    const Nanoseconds more = step == 50 ? 3'200 * kMicrosecond : step % 10 == 7 ? 3 * kMillisecond : 0;
    if (step == 7) first_checkpoint = t;
    program.range("step " + std::to_string(step), t, t + kMillisecond + more);
    if (more > 0) program.range(step == 50 ? "log" : "checkpoint", t + kMillisecond / 2, t + kMillisecond / 2 + more, 1);
    t += kMillisecond + more;
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  const Finding& finding = tail.findings.front();
  CHECK_THAT(finding.title.english(), contains_text("11 of 100 iterations") && contains_text("together 33.2 ms more"));
  CHECK_THAT(finding.seen.english(), contains_text("(checkpoint): 30.0 ms more, in 10 of them. The slowest took 4.20 ms."));
  CHECK(finding.place.range.begin == first_checkpoint);
}

TEST_CASE("where slow iterations have more GPU work, the place is one that has, not the slowest, which has none") {
  // 100 steps of 1 ms with 0.8 ms of GPU work: each tenth takes 3 ms longer on the GPU, step 50 takes 3.3 ms longer on the CPU.
  Scenario program;
  Nanoseconds t = 0, first_slow = 0;
  for (int step = 0; step < 100; ++step) {
    const Nanoseconds on_gpu = step % 10 == 7 ? 3 * kMillisecond : 0, length = kMillisecond + on_gpu + (step == 50 ? 3'300 * kMicrosecond : 0);
    if (step == 7) first_slow = t;
    program.range("step " + std::to_string(step), t, t + length);
    program.kernel("k", t + 10'000, t + 15'000, t + 16'000, t + 816'000 + on_gpu);
    program.call("cudaDeviceSynchronize", t + 16'000, t + 820'000 + on_gpu);
    t += length;
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  const Finding& finding = tail.findings.front();
  CHECK_THAT(finding.title.english(), contains_text("11 of 100 iterations"));
  CHECK_THAT(finding.seen.english(), contains_text("GPU work (kernels and copies): 30.0 ms") && contains_text("The slowest took 4.30 ms."));
  CHECK(finding.place.range == TimeRange{first_slow, first_slow + 4 * kMillisecond});
}

TEST_CASE("the slowest iteration of a program without a GPU is looked at, however many were slow before it") {
  // Each tenth of 3,000 steps takes 130 us instead of 100 us; step 2,705, the 271st of these, takes 50 ms, 49.85 ms of it in a range of its own.
  Scenario program;
  Nanoseconds t = 0;
  for (int step = 0; step < 3'000; ++step) {
    const Nanoseconds begin = t, length = step == 2'705 ? 50 * kMillisecond : (step % 10 == 5 ? 130 : 100) * kMicrosecond;
    program.range("step " + std::to_string(step), begin, begin + length);
    if (step == 2'705) program.range("checkpoint", begin + 100 * kMicrosecond, begin + 49'950 * kMicrosecond, 1);
    t = begin + length + kMicrosecond;
  }
  const RuleAnswer tail = answer(*program.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  const Finding& finding = tail.findings.front();
  CHECK_THAT(finding.seen.english(), contains_text("The slowest took 50.0 ms.") && contains_text("(checkpoint): 49.9 ms more"));
  // Nothing was recorded that shows waits.
  CHECK_THAT(finding.advice.english(), !contains_text("waited for") && contains_text("tell waiting from running"));
  // 200 are looked at, the slowest of all among them. Of the others nothing is said to be known.
  const lanescope::stats::Table& table = tail.tables.front().table;
  REQUIRE(table.row_count() == 300);
  std::size_t looked_at = 0;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const std::int64_t excess = lanescope::test::integer(table, row, "Excess");
    const std::string what = lanescope::test::text(table, row, "What Differs Most");
    CHECK(what.starts_with("not examined") == (excess == lanescope::stats::kNoInteger));
    looked_at += excess > 0;
    if (lanescope::test::integer(table, row, "Duration") == 50 * kMillisecond) CHECK(excess == 49'850 * kMicrosecond);
  }
  CHECK(looked_at == 200);
}

TEST_CASE("the slowest iteration of each process is looked at, however many iterations of others were slower") {
  // Of two processes at different times, one has 400 slow steps of 1 ms, the other, with shorter steps, ten of 130 us.
  Scenario first;
  Scenario second(first.builder(), 101);
  Nanoseconds t = 0;
  for (int step = 0; step < 2'000; ++step) {
    const Nanoseconds length = (step % 5 == 3 ? 1'000 : 500) * kMicrosecond;
    first.range("step " + std::to_string(step), t, t + length);
    t += length + kMicrosecond;
  }
  for (int step = 0; step < 100; ++step) {
    const Nanoseconds length = (step % 10 == 5 ? 130 : 100) * kMicrosecond;
    second.range("step " + std::to_string(step), t, t + length);
    if (step % 10 == 5) second.range("rest", t + 95 * kMicrosecond, t + 125 * kMicrosecond, 1);
    t += length + kMicrosecond;
  }
  const RuleAnswer tail = answer(*first.trace(), "tail");
  REQUIRE(tail.findings.size() == 2);
  CHECK_THAT(tail.findings[1].seen.english(), contains_text("The slowest took 130 µs.") && contains_text("(rest): 30.0 µs more"));
}
