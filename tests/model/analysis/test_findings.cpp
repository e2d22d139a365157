// What findings say about idle time: where most of it lies, what kind it is, and what to do about that kind.
#include <algorithm>
#include <regex>

#include "answers.h"
#include "model/analysis/overlapping_costs.h"
#include "model/analysis/rule.h"
#include "model/import/open_trace.h"
#include "model/trace/load.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

Finding first_bubble(Scenario& program) {
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE_FALSE(bubbles.findings.empty());
  return bubbles.findings[0];
}

}  // namespace

TEST_CASE("findings whose costs may be of the same time are named, and no others") {
  Scenario program;
  program.kernel("a", 0, 10, 20, 30);
  program.kernel("b", 40, 50, 60, 70);
  const auto trace = program.trace();
  std::vector<EventRef> kernels;
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kKernels)
      for (EventIndex i = 0; i < trace->lane(track.lanes.front()).size(); ++i) kernels.push_back({track.lanes.front(), i});
  REQUIRE(kernels.size() == 2);
  const auto finding = [](std::string_view rule, Nanoseconds cost, EventRef event = {}) {
    Finding made;
    made.rule = rule;
    made.cost = cost;
    made.place.event = event;
    return made;
  };
  using Shared = std::vector<std::vector<std::size_t>>;
  // Waits leave GPUs idle, and the idle time is listed by its causes, too; causes share nothing.
  std::vector<Finding> findings{finding("sync_storm", 90), finding("gpu_bubbles", 40), finding("gpu_bubbles", 30)};
  CHECK(shared_costs(*trace, findings) == Shared{{}, {0}, {0}});
  CHECK(overlap_text(shared_costs(*trace, findings)).english() ==
        "Costs overlap and are no sum: findings 2, 3 may count time that a finding above them counts, too.");
  // Idle time, copies, and kernels are times of their own; a kernel's time is not that of another kernel; what costs nothing shares nothing.
  findings = {finding("gpu_bubbles", 90),
              finding("pageable", 80),
              finding("no_overlap", 70),
              finding("kernel_bounds", 60, kernels[0]),
              finding("kernel_stalls", 50, kernels[1]),
              finding("small_grid", 0, kernels[0])};
  CHECK(shared_costs(*trace, findings) == Shared(6));
  CHECK(overlap_text(shared_costs(*trace, findings)).empty());
  findings.push_back(finding("kernel_stalls", 40, kernels[0]));
  CHECK(shared_costs(*trace, findings).back() == std::vector<std::size_t>{3});
  CHECK(overlap_text(shared_costs(*trace, findings)).english() ==
        "Costs overlap and are no sum: finding 7 may count time that a finding above it counts, too.");
  // A slow iteration may have any time; what is paid once is no part of the loop.
  findings = {finding("pageable", 90), finding("tail", 80), finding("gpu_bubbles", 70)};
  findings.back().recurrence = Recurrence::kOnce;
  CHECK(shared_costs(*trace, findings) == Shared{{}, {0}, {}});
}

TEST_CASE("a finding names the innermost range that holds most of the time, and what else holds some") {
  Scenario program;
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds t = step * 20 * kMillisecond;
    program.range("step " + std::to_string(step), t, t + 20 * kMillisecond, 0);
    program.range("data", t, t + 12 * kMillisecond, 1);
    program.range("decode", t, t + 10 * kMillisecond, 2);
    program.range("crop", t + 10 * kMillisecond, t + 12 * kMillisecond, 2);
    program.range("forward", t + 12 * kMillisecond, t + 19 * kMillisecond, 1);
    program.kernel("k", t + 19 * kMillisecond, t + 19 * kMillisecond + 5'000, t + 19 * kMillisecond + 5'000, t + 20 * kMillisecond);
  }
  const Finding found = first_bubble(program);
  CHECK(found.key == "cpu_code");
  CHECK_THAT(found.title, contains_text("mostly in NVTX range \"decode\"."));    // 10 of 19 ms
  CHECK_THAT(found.seen, contains_text(" By range: 63 % data, 37 % forward."));  // 12 and 7 of 19 ms
  CHECK_THAT(found.seen, contains_text("In 7 gaps, 19.0 ms each on average"));   // there is none before the first kernel
  CHECK_THAT(found.title, contains_text("of the loop \"step *\""));
}

TEST_CASE("a finding's place is the gap of its number") {
  Scenario program;
  Nanoseconds t = 0;
  // Ten gaps, of 3 ms in "data" and one of 8 ms in "log"; the last millisecond of the latter is a lock.
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds gap = (step == 4 ? 8 : 3) * kMillisecond;
    program.range("step " + std::to_string(step), t, t + gap + kMillisecond, 0);
    program.range(step == 4 ? "log" : "data", t, t + gap, 1);
    if (step == 4) program.os_call("pthread_mutex_lock", t + gap - kMillisecond, t + gap);
    program.kernel("k", t + gap, t + gap + 5'000, t + gap + 5'000, t + gap + kMillisecond);
    t += gap + kMillisecond;
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles:share=0");
  REQUIRE(bubbles.findings.size() >= 2);
  CHECK(bubbles.findings[0].key == "cpu_code");  // 9 gaps of 3 ms after the first kernel, and 7 ms
  CHECK_THAT(bubbles.findings[0].title, contains_text("mostly in NVTX range \"data\""));
  CHECK_THAT(bubbles.findings[0].seen, contains_text("at most 7.00 ms in a gap of 8.0"));
  CHECK(bubbles.findings[0].place.range.begin == 16 * kMillisecond);  // the end of the kernel of the fourth step
  CHECK(bubbles.findings[0].place.range.end == 24 * kMillisecond + 5'000);
  CHECK(bubbles.findings[1].key == "os_lock");
  CHECK_THAT(bubbles.findings[1].seen, contains_text("In 1 gap of 8.0"));
  CHECK(bubbles.findings[1].place.range.begin == bubbles.findings[0].place.range.begin);
  CHECK(bubbles.findings[1].place.range.end == bubbles.findings[0].place.range.end);
}

TEST_CASE("the summary says what gaps below the threshold add, in the loop alone") {
  Scenario tiny;
  // Before the loop, a hundred kernels with gaps of 5 µs; in each of 10 steps, 100 kernels of 1 µs with gaps of 3 µs, and 20 µs without any kernel.
  Nanoseconds t = 0;
  const auto kernels = [&](Nanoseconds gap) {
    for (int i = 0; i < 100; ++i, t += 1'000 + gap) tiny.kernel("k", t - 900, t - 100, t, t + 1'000);
  };
  kernels(5'000);
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds begin = t - 1'000;
    kernels(3'000);
    t += 17'000;
    tiny.range("step " + std::to_string(step), begin, t - 1'000);
  }
  // 10 times 99 gaps of 3 µs, and 9 gaps of 20 µs, of the 4.151 ms until the last kernel's end.
  CHECK_THAT(answer(*tiny.trace(), "gpu_bubbles").summary,
             contains_text("idle for 180 µs of 4.15 ms (4.3 %) in the loop \"step *\", 10 iterations, in gaps of 10.0 µs or longer; "
                           "shorter ones add 2.97 ms (72 %)."));
  CHECK_THAT(answer(*tiny.trace(), "gpu_bubbles:gap=30us").summary,
             contains_text("never idle in 4.15 ms in the loop \"step *\", 10 iterations, but for gaps shorter than 30.0 µs, which add up "
                           "to 3.15 ms (76 %)."));
}

TEST_CASE("the longest gap counts with all that one cause has of it") {
  Scenario program;
  // Code of the program, split by a query of attributes: 10 + 4 ms, then 3 + 3 ms.
  program.kernel("k", 0, 4'000, 5'000, kMillisecond);
  program.call("cudaGetDevice", 11 * kMillisecond, 12 * kMillisecond);
  program.kernel("k", 16 * kMillisecond, 16 * kMillisecond, 16 * kMillisecond, 17 * kMillisecond);
  program.call("cudaGetDevice", 20 * kMillisecond, 21 * kMillisecond);
  program.kernel("k", 24 * kMillisecond, 24 * kMillisecond, 24 * kMillisecond, 25 * kMillisecond);
  CHECK_THAT(first_bubble(program).seen, contains_text("In 2 gaps, 10.0 ms each on average, at most 14.0 ms in a gap of 15.0 ms."));
}

TEST_CASE("each cause makes a sentence, of the loop and of setup") {
  Scenario program;
  program.orphan_kernel("first", 0, kMillisecond);
  program.orphan_kernel("second", 5 * kMillisecond, 6 * kMillisecond);
  program.kernel("enqueued", 6'000'000, 6'001'000, 9 * kMillisecond, 10 * kMillisecond, 8);
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE(bubbles.findings.size() == 2);
  CHECK_THAT(bubbles.findings[0].title, contains_text("idle for 4.00 ms (40 % of the time) in front of operations whose launch was not recorded."));
  CHECK_THAT(bubbles.findings[1].title, contains_text("idle for 3.00 ms (30 % of the time) because the next operation, though enqueued, had not started."));
}

TEST_CASE("code between launches is told from code that holds the GPU up for long") {
  Scenario eager;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds t = i * 60 * kMicrosecond;
    eager.kernel("k", t, t + 4'000, t + 5'000, t + 10'000);
  }
  CHECK_THAT(first_bubble(eager).title, contains_text("between launches"));
  CHECK_THAT(first_bubble(eager).advice, contains_text("CUDA graph"));

  Scenario loader;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds t = i * 6 * kMillisecond;
    loader.kernel("k", t, t + 4'000, t + 5'000, t + kMillisecond);
  }
  CHECK_THAT(first_bubble(loader).title, !contains_text("between launches"));
  CHECK_THAT(first_bubble(loader).advice, contains_text("data loader"));
}

TEST_CASE("advice fits the call that the time went into") {
  const auto advice_for = [](auto between) {
    Scenario program;
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds t = i * 10 * kMillisecond;
      program.kernel("k", t, t + 4'000, t + 5'000, t + kMillisecond);
      between(program, t + kMillisecond, t + 10 * kMillisecond);
    }
    return first_bubble(program).advice;
  };
  const auto calls = [](const char* name) { return [name](Scenario& program, Nanoseconds begin, Nanoseconds end) { program.call(name, begin, end); }; };
  const auto os_calls = [](const char* name) { return [name](Scenario& program, Nanoseconds begin, Nanoseconds end) { program.os_call(name, begin, end); }; };
  CHECK_THAT(advice_for(os_calls("read")), contains_text("Read ahead"));
  CHECK_THAT(advice_for(os_calls("write")), contains_text("Write less"));
  CHECK_THAT(advice_for(calls("cudaFree")), contains_text("cudaMallocAsync"));
  CHECK_THAT(advice_for(calls("cuModuleLoadData")), contains_text("CUDA_MODULE_LOADING"));
  CHECK_THAT(advice_for(calls("cudaStreamCreate")), contains_text("create streams"));

  Scenario lazy;  // launches that take several milliseconds
  for (int i = 0; i < 10; ++i)
    lazy.kernel("k", i * 10 * kMillisecond, (i + 1) * 10 * kMillisecond - 2'000'000, (i + 1) * 10 * kMillisecond - 2'000'000, (i + 1) * 10 * kMillisecond);
  CHECK_THAT(first_bubble(lazy).advice, contains_text("CUDA_MODULE_LOADING"));
}

TEST_CASE("a cause of less than a hundredth of the time is left to the table") {
  Scenario program;
  for (int i = 0; i < 50; ++i) {
    const Nanoseconds t = i * 10 * kMillisecond;
    program.kernel("k", t, t + 4'000, t + 5'000, t + 10 * kMillisecond - 15'000);  // 20 us of 10 ms
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  CHECK(bubbles.findings.empty());
  CHECK_FALSE(bubbles.tables.empty());
  CHECK_THAT(bubbles.summary, contains_text("idle for 980 µs of 500 ms (0.2 %)"));
  CHECK(answer(*program.trace(), "gpu_bubbles:share=0.1").findings.size() == 1);
}

TEST_CASE("of several GPUs, the one that has most of a cause is named") {
  Scenario program;
  for (const std::uint32_t gpu : {0u, 1u})
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds t = i * 10 * kMillisecond,
                        length = (gpu == 0 ? 9 : 1) * kMillisecond;  // idle for 1 ms, or for 9 ms, less the time of launches
      program.on_gpu(gpu).kernel("k", t, t + 4'000, t + 5'000, t + 5'000 + length, 7 + gpu);
    }
  const Finding found = first_bubble(program);
  CHECK_THAT(found.title, contains_text("2 GPUs were together idle for 89.9 ms"));
  CHECK_THAT(found.seen, contains_text("90 % of it on GPU 1."));
}

TEST_CASE("a finding that names one GPU has that GPU's gaps and time alone") {
  Scenario program;
  program.on_gpu(0);
  for (int i = 0; i < 100; ++i) {  // idle for 25 us in each millisecond
    const Nanoseconds t = i * kMillisecond;
    program.kernel("k", t, t + 4'000, t + 5'000, t + kMillisecond - 25'000);
  }
  program.on_gpu(1);
  for (int i = 0; i < 10; ++i) {  // idle for 9 of each 10 ms
    const Nanoseconds t = i * 10 * kMillisecond;
    program.kernel("k", t, t + 4'000, t + 5'000, t + kMillisecond, 8);
  }
  const Finding found = first_bubble(program);
  // Each of its gaps takes 9.005 ms and contains nine launches for GPU 0, of 4 us, and its own launch, whose kernel starts 1 us after it.
  const Nanoseconds in_gap = 9 * kMillisecond + 5'000 - 9 * 4'000 - 5'000;
  CHECK(found.cost == 9 * in_gap);
  CHECK_THAT(found.title, contains_text("GPU 1 was idle for 80.7 ms (89 % of"));  // of 91 ms
  CHECK_THAT(found.seen, contains_text("In 9 gaps, 8.96 ms each on average, at most 8.96 ms in a gap of 9.01 ms. The others: 2.48 ms."));
}

TEST_CASE("asking whether the GPU is done is no wait") {
  Scenario program;
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds t = i * 40 * kMicrosecond;
    program.kernel("k", t, t + 3'000, t + 6'000, t + 26'000);
    program.call("cudaEventQuery", t + 4'000, t + 39'000);
  }
  CHECK(answer(*program.trace(), "sync_storm").findings.empty());
  CHECK(first_bubble(program).key == "synchronize");  // the idle time that they cause still counts
}

TEST_CASE("waits are not priced with the idle time of those who only ask") {
  Scenario program;
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds t = i * 40 * kMicrosecond;
    program.kernel("k", t, t + 3'000, t + 6'000, t + 26'000);
    program.call("cudaEventQuery", t + 4'000, t + 33'000);
    program.call("cudaEventSynchronize", t + 34'000, t + 39'000);
  }
  const RuleAnswer waits = answer(*program.trace(), "sync_storm");
  REQUIRE(waits.findings.size() == 1);
  CHECK(waits.findings[0].cost <= 199 * 6'000);  // of the 20 us for which the GPU is idle each time
  CHECK(waits.findings[0].cost >= 199 * 5'000);
  CHECK_THAT(waits.findings[0].seen, contains_text("cudaEventSynchronize"));
}

TEST_CASE("between the kernels of one graph nothing is to be won by a graph") {
  Scenario program;
  for (int replay = 0; replay < 30; ++replay) {
    const Nanoseconds t = replay * 100 * kMicrosecond;
    std::vector<TimeRange> kernels;
    for (int node = 0; node < 10; ++node) kernels.push_back({t + 8'000 + node * 9'000, t + 8'000 + node * 9'000 + 6'000});
    program.graph(t, t + 5'000, kernels);
  }
  const RuleAnswer small = answer(*program.trace(), "small_kernels");
  REQUIRE(small.findings.size() == 1);
  CHECK(small.findings[0].cost == 29 * (13'000 - 1'000));  // 13 us between replays, of which a graph would need 1 us
  CHECK_THAT(small.findings[0].advice, contains_text("CUDA graphs launch them already"));
}

TEST_CASE("of a part, rules say what it lacks, and not that the trace does") {
  const auto trace = load_trace(test::data_file("ranks_compute.trace"));  // two ranks with kernels of NCCL and NVTX ranges
  REQUIRE(trace);
  const TimeRange part{7'700 * kMillisecond, 7'750 * kMillisecond};
  const auto message_in = [&](const char* rule, TimeRange time) {
    const auto answers = apply_rules(**trace, std::vector{*parse_rule(rule)}, {}, time);
    REQUIRE(answers);
    return answers->front().message.english();
  };
  for (const char* rule : {"comm_overlap", "imbalance", "step_breakdown"}) {
    CHECK_THAT(message_in(rule, part), contains_text("chosen part"));
    CHECK_THAT(message_in(rule, kWholeTrace), !contains_text("part"));
  }
  CHECK(message_in("gpu_bubbles", {0, 1}) == "The chosen part holds no GPU work.");
}

TEST_CASE("idle time of a wait stands in the row of its call, whatever range launches next") {
  Scenario program;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds t = step * kMillisecond;
    program.range("data " + std::to_string(step), t, t + 100'000);
    program.kernel("copy", t + 40'000, t + 45'000, t + 50'000, t + 150'000);
    program.range("train " + std::to_string(step), t + 100'000, t + 990'000);
    program.call("cudaDeviceSynchronize", t + 110'000, t + 980'000);
  }
  const RuleAnswer waits = answer(*program.trace(), "sync_storm");
  REQUIRE(waits.tables.size() == 1);
  const stats::Table& table = waits.tables[0].table;
  REQUIRE(table.row_count() == 1);
  const auto integers = [&](std::size_t column) { return std::get<stats::Integers>(table.columns()[column].values)[0]; };
  CHECK(integers(0) == 19 * (830'000 + 5'000 + 5'000));  // to the end of the call, in the launch, and from then to the start on the GPU
  CHECK(integers(1) == 20);
  REQUIRE(waits.findings.size() == 1);
  CHECK_THAT(waits.findings[0].seen, contains_text("NVTX range \"train *\": 20 calls"));
}

TEST_CASE("of a chosen time no share exceeds the whole, whatever begins in it and ends behind it") {
  // Eight steps of 10 ms on two ranks. In the last one everything takes a second: the kernel, its copies, the collective and the wait for them.
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t number = 0; number < 2; ++number) {
    Scenario rank(builder, 100 + number);
    rank.on_gpu(number);
    for (int step = 0; step < 8; ++step) {
      const Nanoseconds t = step * 10 * kMillisecond, longer = step == 7 ? 1'000 * kMillisecond : 0;
      for (int i = 0; i < 30; ++i) rank.kernel("small", t + i * 20'000, t + i * 20'000 + 5'000, t + i * 20'000 + 8'000, t + i * 20'000 + 14'000);
      rank.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1 << 24, t + kMillisecond, t + kMillisecond + 5'000, t + kMillisecond + 10'000,
                t + 2 * kMillisecond + longer, 8);
      rank.copy("cudaMemcpy", MemoryKind::kPageable, 1 << 24, t + 2 * kMillisecond, t + 3 * kMillisecond + longer, t + 2 * kMillisecond + 10'000,
                t + 3 * kMillisecond + longer, 9);
      rank.kernel("gemm", t + 3 * kMillisecond, t + 3 * kMillisecond + 5'000, t + 3 * kMillisecond + 10'000 + number * 1'000'000, t + 5 * kMillisecond + longer,
                  10);
      rank.kernel("ncclDevKernel_AllReduce", t + 5 * kMillisecond, t + 5 * kMillisecond + 5'000, t + 5 * kMillisecond + 10'000, t + 8 * kMillisecond + longer,
                  20);
      rank.call("cudaDeviceSynchronize", t + 6 * kMillisecond, t + 8 * kMillisecond + longer);
      rank.range("step " + std::to_string(step), t, t + 9 * kMillisecond + longer);
    }
  }
  const auto trace = builder->snapshot();
  const TimeRange chosen{70 * kMillisecond, 79 * kMillisecond};
  const std::regex share("([0-9,.]+) %");
  std::size_t shares = 0;
  for (const Rule& rule : rules()) {
    if (rule.origin != RuleOrigin::kLanescope) continue;
    const auto answers = apply_rules(*trace, std::vector{*parse_rule(rule.name)}, {}, chosen);
    REQUIRE(answers);
    for (const Finding& finding : answers->front().findings) {
      INFO(finding.title.english() << " " << finding.seen.english());
      CHECK(finding.cost <= 2 * chosen.length() * (finding.rule == "imbalance" ? 2 : 1));
      const std::string words = finding.title.english() + finding.seen.english();
      for (std::sregex_iterator found(words.begin(), words.end(), share); found != std::sregex_iterator(); ++found, ++shares)
        CHECK(std::stod((*found)[1]) <= 100);
    }
    for (const NamedTable& named : answers->front().tables)
      for (const stats::Column& column : named.table.columns()) {
        if (column.unit != stats::Unit::kPercent || column.title == "Of Mean" || column.title == "Of Median") continue;
        for (const double value : std::get<stats::Reals>(column.values)) {
          INFO(named.name << ", " << column.title);
          CHECK(value <= 100);
          ++shares;
        }
      }
  }
  CHECK(shares > 10);
}

TEST_CASE("without ranges, setup is what lies in front of the work that repeats") {
  Scenario program;
  Nanoseconds t = 0;
  const auto launch = [&](const char* name, Nanoseconds idle) {
    program.kernel(name, t + idle, t + idle + 5'000, t + idle + 6'000, t + idle + kMillisecond);
    t += idle + kMillisecond;
  };
  for (int i = 0; i < 6; ++i) launch("initialise", 100 * kMillisecond * (i % 3));  // at irregular times
  for (int step = 0; step < 40; ++step) {
    launch("forward", step == 0 ? 900 * kMillisecond : 4 * kMillisecond);  // the first step compiles
    launch("backward", step == 0 ? 300 * kMillisecond : kMillisecond);
  }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  REQUIRE(bubbles.findings.size() == 2);
  CHECK(bubbles.findings[0].key == "cpu_code");
  CHECK_THAT(bubbles.findings[0].title, contains_text("of the time in which its work repeats"));
  // Of 40 steps, those after the first occurrence of "backward" that is no warm-up: 38 or 39 steps with 5 ms each.
  CHECK(bubbles.findings[0].cost >= 38 * 5 * kMillisecond);
  CHECK(bubbles.findings[0].cost <= 39 * 5 * kMillisecond + 40 * 2 * 6'000);
  CHECK(bubbles.findings[1].key == "setup");
  CHECK(bubbles.findings[1].cost >= 1'800 * kMillisecond - 100'000);
  CHECK_THAT(bubbles.findings[1].title, contains_text("before its work began to repeat"));
}

TEST_CASE("work at irregular times has no loop") {
  Scenario program;
  Nanoseconds t = 0;
  for (int i = 0; i < 40; ++i) {
    t += (1 + (i * 7919) % 23) * kMillisecond;
    program.kernel("k", t, t + 5'000, t + 6'000, t + 300'000);
  }
  CHECK_THAT(first_bubble(program).title, contains_text("of the time)"));
}

TEST_CASE("what PyTorch marks by itself is no loop of its own") {
  Scenario program;
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds t = step * 10 * kMillisecond;
    program.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, t + 9 * kMillisecond);
    program.kernel("k", t + 9 * kMillisecond, t + 9 * kMillisecond + 5'000, t + 9 * kMillisecond + 6'000, t + 10 * kMillisecond);
  }
  CHECK_THAT(first_bubble(program).title, contains_text("of the time in which its work repeats"));
}

TEST_CASE("a GPU that several recordings saw, one after the other, counts once") {
  const auto open = [](const std::vector<std::string>& names) {
    std::vector<std::filesystem::path> files;
    for (const std::string& name : names) files.push_back(lanescope::test::data_file(name + ".trace"));
    auto trace = open_traces(files);
    REQUIRE(trace);
    return *trace;
  };
  const auto summary_of = [&](const std::vector<std::string>& names) { return answer(*open(names), "gpu_bubbles").summary.english(); };
  // GPU 055a5b27-... and 71143058-..., by the UUIDs in the files.
  const std::string one = "torch_training_workers0", also_one = "torch_training_workers4", other = "torch_loader_samples";
  CHECK_THAT(summary_of({one, also_one}), contains_text("1 GPU was, in 2 recordings, idle for ") && contains_text("of 2 runs, one after the other"));
  CHECK_THAT(summary_of({one, other, also_one}), contains_text("2 GPUs were together idle for ") && contains_text("of 3 runs, one after the other"));

  const auto products_of = [&](const std::vector<std::string>& names) {
    return answer(*open(names), "fp32_products:share=0").findings.front().title.english();
  };
  CHECK_THAT(products_of({one, also_one}), contains_text("leave the tensor cores of 1 GPU, in 2 recordings, unused"));
  CHECK_THAT(products_of({one, other, also_one}), contains_text("leave the tensor cores of 2 GPUs unused"));

  const std::vector<Finding> shapes = answer(*open({one, also_one}), "small_grid:share=0:duration=1us").findings;
  CHECK(std::any_of(shapes.begin(), shapes.end(),
                    [](const Finding& each) { return each.seen.english().find(" on 1 GPU, in 2 recordings, took ") != std::string::npos; }));
  CHECK(std::none_of(shapes.begin(), shapes.end(), [](const Finding& each) { return each.seen.english().find("2 GPUs") != std::string::npos; }));
}

TEST_CASE("that waits were not recorded is said of the part of idle time of which it is true") {
  // Two processes on GPUs of their own, 10 and 30 ms of each step idle while their threads run; states of threads were recorded of one.
  const auto seen_of = [](bool first_has_states, bool second_has_states) {
    auto builder = std::make_shared<TraceBuilder>();
    std::uint32_t number = 0;
    for (const bool has_states : {first_has_states, second_has_states}) {
      Scenario program(builder, 100 + number);
      program.on_gpu(number);
      const Nanoseconds idle = number++ == 0 ? 10 * kMillisecond : 30 * kMillisecond;
      for (int step = 0; step < 10; ++step) {
        const Nanoseconds t = step * 100 * kMillisecond, busy = t + idle;
        program.range("step " + std::to_string(step), t, t + 100 * kMillisecond);
        program.kernel("k", busy - 10 * kMicrosecond, busy - 5 * kMicrosecond, busy, t + 100 * kMillisecond);
      }
      if (has_states) program.state(ThreadState::kRunning, 0, 1'000 * kMillisecond);
    }
    const RuleAnswer bubbles = answer(*builder->snapshot(), "gpu_bubbles");
    REQUIRE(bubbles.findings.front().key == "cpu_code");
    return bubbles.findings.front().seen.english();
  };
  const std::string all = "Neither states of threads nor calls into the C library were recorded";
  CHECK_THAT(seen_of(false, false), contains_text(all));
  // Of the process with the longest gaps they are known; 9 gaps of the other one lie in the loop behind the first kernel.
  CHECK_THAT(seen_of(false, true),
             !contains_text(all) && contains_text("Of 89.9 ms of it neither states of threads nor calls into the C library were recorded"));
  CHECK_THAT(seen_of(true, false), !contains_text(all) && contains_text("nor calls into the C library were recorded"));
  CHECK_THAT(seen_of(true, true), !contains_text("C library"));
}
