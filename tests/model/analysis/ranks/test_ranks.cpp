// Several ranks: which rank waits for which, and why, however long the program's setup took.
#include <algorithm>
#include <map>
#include <numeric>

#include "answers.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/analysis/idle/idle.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/combining/combine.h"
#include "model/trace/trace_builder.h"
#include "ranks/rank_waits.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

constexpr int kRanks = 4, kSteps = 20;
constexpr Nanoseconds kSecond = 1'000 * kMillisecond;
constexpr Nanoseconds kSleep = 12 * kMillisecond, kCompute = 17 * kMillisecond, kTransfer = kMillisecond;
constexpr Nanoseconds kStep = kSleep + kCompute + kTransfer;

struct Program {
  int late = 3;        // the rank that sleeps for 12 ms in each step of 30 ms; -1: the ranks take turns
  bool ranges = true;  // true if steps are marked
};

// Twenty seconds of setup, in which the ranks come to their first collective in reverse order, seconds apart; then the steps.
void add_rank(Scenario& rank, int number, const Program& program, Nanoseconds clock) {
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = clock + i * i * 200 * kMillisecond;
    rank.kernel("initialise", t, t + kMillisecond, t + kMillisecond, t + 2 * kMillisecond);
  }
  const Nanoseconds come = clock + 19 * kSecond - number * 3 * kSecond;
  rank.kernel("ncclDevKernel_AllReduce", come, come + 5'000, come + 10'000, clock + 19'500 * kMillisecond, 20);
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = clock + 20 * kSecond + step * kStep, end = begin + kStep - 50 * kMicrosecond;
    const bool sleeps = (program.late >= 0 ? program.late : step % kRanks) == number;
    const Nanoseconds start = begin + (sleeps ? kSleep : 0);
    if (program.ranges) rank.range("step " + std::to_string(step), begin, end);
    if (sleeps) rank.os_call("nanosleep", begin + 10'000, start - 10'000);
    rank.kernel("forward", start, start + 5'000, start + 10'000, start + kCompute / 2);
    rank.kernel("backward", start + 5'000, start + 10'000, start + kCompute / 2, start + kCompute);
    rank.kernel("ncclDevKernel_AllReduce", start + 10'000, start + 15'000, start + kCompute, end - 5'000, 20);
    rank.call("cudaStreamSynchronize", start + 20'000, end - 1'000);
  }
}

std::shared_ptr<const Trace> one_file(const Program& program) {
  auto builder = std::make_shared<TraceBuilder>();
  for (int number = 0; number < kRanks; ++number) {
    Scenario rank(builder, 100 + static_cast<std::uint32_t>(number));
    rank.on_gpu(static_cast<std::uint32_t>(number));
    add_rank(rank, number, program, 0);
  }
  return builder->snapshot();
}

// A file for each rank; the clocks of consecutive ranks differ by `clock`.
std::shared_ptr<const Trace> four_files(const Program& program, Nanoseconds clock) {
  std::vector<TraceSource> files;
  for (int number = 0; number < kRanks; ++number) {
    Scenario rank(100 + static_cast<std::uint32_t>(number));
    rank.on_gpu(static_cast<std::uint32_t>(number));
    add_rank(rank, number, program, number * clock);
    files.push_back({rank.trace(), "rank" + std::to_string(number) + ".trace", 0});
  }
  return combine_traces(files);
}

const Finding& of_rule(const std::vector<Finding>& found, std::string_view rule) {
  const auto first = std::find_if(found.begin(), found.end(), [&](const Finding& finding) { return finding.rule == rule; });
  REQUIRE(first != found.end());
  return *first;
}

RankWork rank_with(const std::vector<TimeRange>& kernels, NameId name = 1) {
  std::vector<CommunicationKernel> communication;
  for (const TimeRange& kernel : kernels) communication.push_back({.range = kernel, .name = name});
  RankWork rank;
  rank.collective_operations = kernels.size();
  rank.communication_kernels = std::make_shared<const std::vector<CommunicationKernel>>(std::move(communication));
  return rank;
}

// For ranks that compute nothing meanwhile.
std::vector<RankWait> waits_of(const std::vector<RankWork>& ranks) {
  return find_rank_waits(ranks, [](std::size_t, TimeRange) { return Nanoseconds{0}; }).ranks;
}

// Programs in which each step computes and reduces in groups, once for each way of grouping the ranks: tensor parallel, then data parallel.
struct Grouped {
  std::vector<std::vector<std::vector<std::size_t>>> groupings;
  std::vector<Nanoseconds> compute;        // time in each part of a step, by rank
  std::vector<Nanoseconds> late;           // time on the CPU, before each step
  std::vector<int> late_in = {};           // steps; empty: all
  std::vector<std::size_t> recorded = {};  // ranks; empty: all
};

std::shared_ptr<const Trace> trace_of(const Grouped& program) {
  const auto builder = std::make_shared<TraceBuilder>();
  const std::size_t count = program.compute.size();
  std::vector<Scenario> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    ranks.emplace_back(builder, 100 + static_cast<std::uint32_t>(i));
    ranks.back().on_gpu(static_cast<std::uint32_t>(i));
  }
  const auto is_named = [](const auto& some, auto one) { return some.empty() || std::find(some.begin(), some.end(), one) != some.end(); };
  std::vector<Nanoseconds> cpu(count, 10 * kMillisecond), gpu = cpu;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<Nanoseconds> begin = cpu;
    for (std::size_t i = 0; i < count; ++i) cpu[i] += is_named(program.late_in, step) ? program.late[i] : 0;
    for (const auto& groups : program.groupings) {
      std::vector<Nanoseconds> come(count);
      for (std::size_t i = 0; i < count; ++i) {
        const Nanoseconds start = std::max(cpu[i] + 6'000, gpu[i]);
        if (is_named(program.recorded, i)) ranks[i].kernel("gemm", cpu[i], cpu[i] + 5'000, start, start + program.compute[i]);
        come[i] = start + program.compute[i] + 2'000;
      }
      for (const auto& group : groups) {
        Nanoseconds last = 0;
        for (const std::size_t i : group) last = std::max(last, come[i]);
        for (const std::size_t i : group) {
          gpu[i] = last + 200'000;
          if (is_named(program.recorded, i)) ranks[i].kernel("ncclDevKernel_AllReduce", cpu[i] + 6'000, cpu[i] + 11'000, come[i], gpu[i]);
          gpu[i] += 1'000;
          cpu[i] += 12'000;
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (is_named(program.recorded, i)) {
        ranks[i].call("cudaStreamSynchronize", cpu[i], gpu[i] + 4'000);
        ranks[i].range("step " + std::to_string(step), begin[i], gpu[i] + 5'000);
      }
      cpu[i] = gpu[i] + 6'000;
    }
  }
  return builder->snapshot();
}

// Two ranks that compute for 10 ms of each step of 13 ms and reduce at the same time: until 12 ms all gradients, from 11 to 13 ms parameters. The second rank
// comes 4 ms later to the gradients, and none of that time is lost, because the first rank computes meanwhile. With `second_computes` = 9 ms it starts to
// compute 1 ms later.
std::shared_ptr<const Trace> overlapped(Nanoseconds second_computes, Nanoseconds second_comes) {
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t number = 0; number < 2; ++number) {
    Scenario rank(builder, 100 + number);
    rank.on_gpu(number);
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds t = (10 + 13 * step) * kMillisecond, computed = t + 10 * kMillisecond;
      rank.range("step " + std::to_string(step), t, t + 13 * kMillisecond - 1'000);
      rank.kernel("gemm", t, t + 5'000, computed - (number == 1 ? second_computes : 10 * kMillisecond - 6'000), computed);
      rank.kernel("ncclDevKernel_AllReduce", t + 6'000, t + 11'000, number == 1 ? t + second_comes : t + 2 * kMillisecond, t + 12 * kMillisecond, 20);
      rank.kernel("ncclDevKernel_AllGather", t + 12'000, t + 15'000, t + 11 * kMillisecond, t + 13 * kMillisecond - 20'000, 21);
      rank.call("cudaDeviceSynchronize", t + 16'000, t + 13 * kMillisecond - 10'000);
    }
  }
  return builder->snapshot();
}

}  // namespace

TEST_CASE("where ranks of the job were not recorded, it is said that waiting for them counts as communication") {
  const auto seen = [](std::uint32_t world) {
    const auto builder = std::make_shared<TraceBuilder>();
    for (int number = 0; number < kRanks; ++number) {
      const std::uint32_t pid = 100 + static_cast<std::uint32_t>(number);
      Scenario rank(builder, pid);
      rank.on_gpu(static_cast<std::uint32_t>(number));
      add_rank(rank, number, {.late = -1}, 0);
      JobPlace& place = builder->process(builder->process_of_instance(pid)).place;
      place.rank = static_cast<std::uint32_t>(number);
      place.world_size = world;
    }
    return of_rule(findings(*builder->snapshot()), "comm_overlap").seen.english();
  };
  CHECK_THAT(seen(kRanks), !contains_text("not recorded"));
  CHECK_THAT(seen(0), !contains_text("not recorded"));
  CHECK_THAT(seen(kRanks + 1), contains_text("1 of 5 ranks of the job was not recorded: what others waited for it counts as communication."));
  CHECK_THAT(seen(kRanks + 2), contains_text("2 of 6 ranks of the job were not recorded: what others waited for them counts as communication."));
}

TEST_CASE("a rank that sleeps 12 ms in each step of 30 comes first, from one file and from four, however long setup took") {
  const Program program{.ranges = GENERATE(true, false)};
  const int files = GENERATE(1, 4);
  const Nanoseconds clock = files == 1 ? 0 : GENERATE(Nanoseconds{0}, 40 * kMicrosecond, 7 * kMillisecond);
  INFO(files << " files, " << (program.ranges ? "steps are marked" : "steps are not marked") << ", clocks differ by " << clock);
  const auto trace = files == 1 ? one_file(program) : four_files(program, clock);
  const std::vector<Finding> found = findings(*trace);
  REQUIRE(found.size() >= 2);
  CHECK(found[0].rule == "imbalance");
  CHECK_THAT(found[0].title, contains_text("[103]") && contains_text("came last"));
  if (program.ranges) CHECK_THAT(found[0].title, contains_text("40 % of the loop \"step *\""));
  CHECK_THAT(found[0].seen, contains_text("while the launching thread slept"));
  CHECK(static_cast<double>(found[0].cost) == Approx(3 * kSteps * kSleep).epsilon(0.1));
  CHECK(found[0].place.range.length() == kSleep);
  CHECK(found[1].rule == "gpu_bubbles");
  CHECK(found[1].key == "os_sleep");
  CHECK_THAT(found[1].title, contains_text("GPU 3 was idle") && contains_text(program.ranges ? "(40 % of the loop" : " % of the time in which its work"));

  // The time that the others wait is not communication: only the transfer is, 1 of 30 ms.
  const Finding& communication = of_rule(found, "comm_overlap");
  if (program.ranges) CHECK_THAT(communication.title, contains_text("(3.2 % of the loop"));
  CHECK(static_cast<double>(communication.cost) == Approx(kRanks * kSteps * (kTransfer - 55 * kMicrosecond)).epsilon(0.1));
}

TEST_CASE("ranks that are late in turn are all waited for, and their collectives wait as long") {
  const RuleAnswer overlap = answer(*one_file({.late = -1}), "comm_overlap");
  const auto table = std::find_if(overlap.tables.begin(), overlap.tables.end(), [](const NamedTable& one) { return one.name == "comm_overlap"; });
  REQUIRE(table != overlap.tables.end());
  for (std::size_t rank = 0; rank < kRanks; ++rank)  // each rank sleeps in a quarter of the steps, and waits in the others
    CHECK(table->table.columns().back().integer(rank) == kSteps * 3 / 4 * kSleep);
  for (const Finding& finding : overlap.findings) CHECK(finding.cost < kRanks * kSteps * 2 * kTransfer);
}

TEST_CASE("kernels are one collective where their ends agree, in groups of their own, too") {
  // Ranks 0 and 1 reduce among themselves, and so do ranks 2 and 3: at other times, with equally many kernels. Rank 1 is 500 µs late, rank 3 900 µs.
  std::vector<RankWork> ranks;
  const std::vector<Nanoseconds> late{0, 500'000, 0, 900'000};
  for (std::size_t number = 0; number < 4; ++number) {
    std::vector<TimeRange> kernels;
    for (Nanoseconds i = 0; i < 10; ++i) {
      const Nanoseconds begin = i * 10 * kMillisecond + (number < 2 ? 0 : i * 400'000);
      kernels.push_back({begin + late[number], begin + (number < 2 ? 600'000 : 1'000'000)});
    }
    ranks.push_back(rank_with(kernels));
  }
  const std::vector<RankWait> waits = waits_of(ranks);
  CHECK(waits[0].waited == 10 * 500'000);
  CHECK(waits[1].caused == 10 * 500'000);
  CHECK(waits[1].last == 10);
  CHECK(waits[1].waited == 0);
  CHECK(waits[2].waited == 10 * 900'000);
  CHECK(waits[3].caused == 10 * 900'000);
  CHECK(waits[3].longest.length() == 900'000);
}

TEST_CASE("a rank whose first collectives were not recorded is matched by the ends of the rest") {
  std::vector<TimeRange> all, rest;
  for (Nanoseconds i = 0; i < 10; ++i) {
    all.push_back({i * kMillisecond, i * kMillisecond + 300'000});
    if (i >= 4) rest.push_back({i * kMillisecond + 200'000, i * kMillisecond + 300'010});
  }
  const std::vector<RankWait> waits = waits_of({rank_with(all), rank_with(rest)});
  CHECK(waits[0].matched == 6);
  CHECK(waits[0].waited == 6 * (300'000 - 100'010));
  CHECK(waits[1].last == 6);
}

TEST_CASE("waiting that computation hides is not lost, and takes nothing off the communication that is exposed") {
  const bool equal = GENERATE(true, false);
  const auto trace = overlapped(equal ? 10 * kMillisecond - 6'000 : 9 * kMillisecond, 6 * kMillisecond);
  CHECK(answer(*trace, "imbalance").findings.empty());
  const RuleAnswer overlap = answer(*trace, "comm_overlap");
  const stats::Table& table = table_named(overlap, "comm_overlap");
  CHECK(integer(table, 0, "Waited") == kSteps * 4 * kMillisecond);
  REQUIRE(overlap.findings.size() == 1);
  constexpr Nanoseconds kExposed = kSteps * (3 * kMillisecond - 20'000);  // from 10 ms of each step on
  CHECK(overlap.findings[0].cost == 2 * kExposed);
  for (const std::size_t rank : {0, 1}) {
    CHECK(integer(table, rank, "Exposed") == kExposed);
    CHECK(integer(table, rank, "Exposed Waiting") == 0);
  }
}

TEST_CASE("of waiting that is hidden in part, the rest is lost") {
  // The second rank comes at 10.5 ms: half a millisecond after the first has finished computing.
  const auto trace = overlapped(10 * kMillisecond - 6'000, 10 * kMillisecond + 500'000);
  const RuleAnswer overlap = answer(*trace, "comm_overlap");
  const stats::Table& table = table_named(overlap, "comm_overlap");
  CHECK(integer(table, 0, "Waited") == kSteps * (8 * kMillisecond + 500'000));
  CHECK(integer(table, 0, "Exposed Waiting") == kSteps * 500'000);
  const RuleAnswer imbalance = answer(*trace, "imbalance:waiting=3");
  REQUIRE(imbalance.findings.size() == 1);
  CHECK(imbalance.findings[0].cost == kSteps * 500'000);
  CHECK_THAT(imbalance.findings[0].title, contains_text("[101]") && contains_text("waited for it for 10.0 ms on average"));
  CHECK(answer(*trace, "imbalance").findings.empty());  // 3.8 % of the loop
}

TEST_CASE("waiting counts to the rank that it began with, and not to those that waited for it themselves") {
  // Only rank 3 is late. Rank 2 waits for it in their group, and so comes last to the next collective, with rank 0; and rank 1 waits for rank 3.
  const auto trace = trace_of({{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}, std::vector<Nanoseconds>(4, 5 * kMillisecond), {0, 0, 0, 2 * kMillisecond}});
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  REQUIRE(imbalance.findings.size() == 1);
  CHECK_THAT(imbalance.findings[0].title, contains_text("[103]") && contains_text("though it computed no longer"));
  CHECK(static_cast<double>(imbalance.findings[0].cost) == Approx(3 * kSteps * 2 * kMillisecond).epsilon(0.001));
  const stats::Table& table = table_named(imbalance, "imbalance");
  for (const std::size_t rank : {0, 1, 2}) {
    CHECK(integer(table, rank, "Exposed Waiting") == kSteps * 2 * kMillisecond);
    CHECK(integer(table, rank, "Caused Waiting") < kMillisecond);
  }
}

TEST_CASE("ranks that are kept waiting alike, or not at all, keep nobody waiting") {
  const auto [late, compute] = GENERATE(table<std::vector<Nanoseconds>, std::vector<Nanoseconds>>({
      {{0, 0, 0, 0}, {5 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond}},
      {{0, 0, 0, 0}, {5 * kMillisecond, 5 * kMillisecond + 100'000, 5 * kMillisecond, 5 * kMillisecond - 50'000}},
      {{kMillisecond, kMillisecond, kMillisecond, kMillisecond}, {5 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond}},
  }));
  for (const auto& groupings : std::vector<std::vector<std::vector<std::vector<std::size_t>>>>{{{{0, 1, 2, 3}}}, {{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}})
    CHECK(answer(*trace_of({groupings, compute, late}), "imbalance").findings.empty());
}

TEST_CASE("of ranks that are late in turn none is blamed, since none has what the others lack") {
  // In each step another rank computes twice as long: in total they compute equally long, and each keeps the others waiting for equally long.
  const auto builder = std::make_shared<TraceBuilder>();
  const bool second_is_late = GENERATE(false, true);
  for (std::uint32_t number = 0; number < 4; ++number) {
    Scenario rank(builder, 100 + number);
    rank.on_gpu(number);
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds t = 10 * step * kMillisecond, late = second_is_late && number == 1 ? kMillisecond : 0;
      const Nanoseconds computed = t + late + (static_cast<std::uint32_t>(step) % 4 == number ? 8 : 4) * kMillisecond;
      rank.range("step " + std::to_string(step), t, t + 10 * kMillisecond - 10'000);
      rank.kernel("gemm", t + late, t + late + 5'000, t + late + 10'000, computed);
      rank.kernel("ncclDevKernel_AllReduce", t + late + 6'000, t + late + 11'000, computed, t + 9 * kMillisecond + 200'000, 20);
      rank.call("cudaStreamSynchronize", t + late + 20'000, t + 10 * kMillisecond - 20'000);
    }
  }
  // The second rank adds one of five milliseconds of its own step: less than 5 % of the loop.
  CHECK(answer(*builder->snapshot(), "imbalance").findings.empty());
}

TEST_CASE("that a rank computed no longer is said only where it did not") {
  const auto imbalance_of = [](std::vector<Nanoseconds> compute, std::vector<Nanoseconds> late) {
    std::vector<std::size_t> all(compute.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return answer(*trace_of({{{all}}, std::move(compute), std::move(late)}), "imbalance").findings;
  };
  constexpr Nanoseconds kFive = 5 * kMillisecond;
  // Longer by 1.1 of 5 ms, which is less than a tenth above the mean: the other rank waits for that, and not for anything on this rank's CPU.
  const std::vector<Finding> of_two = imbalance_of({kFive, kFive + 1'100'000}, {0, 0});
  REQUIRE(of_two.size() == 1);
  CHECK(of_two[0].cost == kSteps * 1'100'000);
  CHECK_THAT(of_two[0].title, contains_text("came last") && contains_text("computed for 22.0 ms longer") && contains_text("waited for it for 22.0 ms"));
  CHECK_THAT(of_two[0].advice, contains_text("Give each rank the same work"));
  // The cost is continuous at a tenth above the mean, where the other sentence starts: it is the total waiting time of all ranks in both.
  Nanoseconds before = 0;
  for (const Nanoseconds longer : {500'000, 600'000, 700'000, 800'000, 900'000}) {
    const std::vector<Finding> of_four = imbalance_of({kFive, kFive, kFive, kFive + longer}, {0, 0, 0, 0});
    REQUIRE(of_four.size() == 1);
    CHECK(of_four[0].cost == 3 * kSteps * longer);
    CHECK(of_four[0].cost > before);
    CHECK_THAT(of_four[0].title, !contains_text("computed no longer"));
    CHECK_THAT(of_four[0].advice, contains_text("Give each rank the same work"));
    before = of_four[0].cost;
  }
  // Computing takes a tenth of a millisecond of the two: the rank is delayed by its CPU.
  const std::vector<Finding> mostly_late = imbalance_of({kFive, kFive, kFive, kFive + 100'000}, {0, 0, 0, 2 * kMillisecond - 100'000});
  REQUIRE(mostly_late.size() == 1);
  CHECK_THAT(mostly_late[0].title, contains_text("computed for no more than 2.00 ms longer"));
  CHECK_THAT(mostly_late[0].advice, contains_text("something on its CPU"));
}

TEST_CASE("steps that wait for a late rank are slow because it is, which is said once and of that rank") {
  // Rank 3 is 5 ms late in two steps, and the others wait for it for as long.
  Grouped program{{{{0, 1, 2, 3}}}, std::vector<Nanoseconds>(4, 5 * kMillisecond), {0, 0, 0, 5 * kMillisecond}, {5, 12}};
  const RuleAnswer tail = answer(*trace_of(program), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("2 of 20 iterations (\"step *\") of [103] program took"));
  CHECK_THAT(tail.findings[0].seen, contains_text("CPU code") && contains_text("on 3 other ranks as well, which waited for 30.0 ms together"));
  CHECK(static_cast<double>(tail.findings[0].cost) == Approx(2 * 5 * kMillisecond).epsilon(0.01));
  const stats::Table& table = table_named(tail, "tail");
  REQUIRE(table.row_count() == 8);
  for (std::size_t row = 0; row < 8; ++row)
    CHECK((text(table, row, "What Differs Most") == "waiting for a rank that came later") == (text(table, row, "Process") != "[103] program"));

  // If only the recording of another rank is given, it is not known that the rank waits; the time is not its own work, either.
  program.recorded = {0};
  const RuleAnswer alone = answer(*trace_of(program), "tail");
  REQUIRE(alone.findings.size() == 1);
  CHECK_THAT(alone.findings[0].title, contains_text("iterations (\"step *\") took"));
  CHECK_THAT(alone.findings[0].seen, contains_text("communication, or waiting for other ranks: 10.0 ms (100 %)"));
  CHECK_THAT(alone.findings[0].advice, contains_text("Open the recordings of all ranks together"));
}

TEST_CASE("a step that waits for a rank that was late in front of its own step says for which") {
  Scenario first, second(first.builder(), 101);
  second.on_gpu(1);
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds t = 12 * step * kMillisecond, late = step == 7 ? 5 * kMillisecond : 0, end = t + late + 6 * kMillisecond;
    for (Scenario* const rank : {&first, &second}) {
      const Nanoseconds begin = rank == &second ? t + late : t;
      rank->range("step " + std::to_string(step), begin, end);
      rank->kernel("gemm", begin, begin + 5'000, begin + 6'000, begin + 5 * kMillisecond);
      rank->kernel("ncclDevKernel_AllReduce", begin + 6'000, begin + 11'000, begin + 5 * kMillisecond, end - 10'000);
      rank->call("cudaStreamSynchronize", begin + 12'000, end - 1'000);
    }
  }
  const RuleAnswer tail = answer(*first.trace(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("of [100] program"));
  CHECK_THAT(tail.findings[0].seen, contains_text("waiting for a rank that came later: 5.00 ms (100 %)") && contains_text("It waited most for [101] program."));
}

TEST_CASE("ranks that are slow in the same steps are one finding, and in others of their own not") {
  const Grouped evaluating{{{{0, 1, 2, 3}}}, std::vector<Nanoseconds>(4, 5 * kMillisecond), std::vector<Nanoseconds>(4, 5 * kMillisecond), {5, 12}};
  const RuleAnswer same = answer(*trace_of(evaluating), "tail");
  REQUIRE(same.findings.size() == 1);
  CHECK_THAT(same.findings[0].seen, contains_text("The same iterations took longer on 3 other ranks as well: [101] program, [102] program, [103] program."));

  // Each rank is late in its turn, by 5 ms: of two ranks the first in step 5, the second in step 12, while the other one waits.
  const auto builder = std::make_shared<TraceBuilder>();
  std::vector<Scenario> ranks{Scenario(builder, 100), Scenario(builder, 101)};
  Nanoseconds t = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds late = step == 5 || step == 12 ? 5 * kMillisecond : 0, end = t + late + 6 * kMillisecond;
    for (std::uint32_t number = 0; number < 2; ++number) {
      ranks[number].on_gpu(number);
      const Nanoseconds begin = t + (number == (step == 5 ? 0u : 1u) ? late : 0);
      ranks[number].range("step " + std::to_string(step), t, end);
      ranks[number].kernel("gemm", begin, begin + 5'000, begin + 6'000, begin + 5 * kMillisecond);
      ranks[number].kernel("ncclDevKernel_AllReduce", begin + 6'000, begin + 11'000, begin + 5 * kMillisecond, end - 10'000);
      ranks[number].call("cudaStreamSynchronize", begin + 12'000, end - 1'000);
    }
    t = end + 1'000;
  }
  const RuleAnswer in_turn = answer(*builder->snapshot(), "tail");
  REQUIRE(in_turn.findings.size() == 2);
  for (const Finding& finding : in_turn.findings) CHECK(static_cast<double>(finding.cost) == Approx(2 * 5 * kMillisecond).epsilon(0.01));
}

TEST_CASE("stages of a pipeline wait for each other's sends, to which nobody comes last") {
  // Four stages with equal work and six microbatches: a later stage waits longer for its first microbatch.
  const auto builder = std::make_shared<TraceBuilder>();
  std::vector<Nanoseconds> sent(6, 0);
  const std::string kernel = GENERATE("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t");
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    Scenario rank(builder, 100 + stage);
    rank.on_gpu(stage);
    std::vector<Nanoseconds> sends;
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds begin = (10 + 25 * step) * kMillisecond;
      Nanoseconds cpu = begin, gpu = begin + 10'000;
      const auto enqueue = [&](const std::string& name, Nanoseconds end) {
        rank.kernel(name, cpu, cpu + 5'000, gpu, end, 7);
        cpu += 6'000;
        gpu = end + 1'000;
      };
      for (std::size_t batch = 0; batch < 6; ++batch) {
        if (stage > 0) enqueue(kernel, std::max(gpu + 100'000, sent[static_cast<std::size_t>(step) * 6 + batch]));
        enqueue("gemm", gpu + 2 * kMillisecond);
        if (stage < 3) enqueue(kernel, gpu + 100'000);
        sends.push_back(gpu - 1'000);
      }
      rank.range("step " + std::to_string(step), begin, begin + 25 * kMillisecond - 1'000);
    }
    sent = std::move(sends);
  }
  const auto trace = builder->snapshot();
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  CHECK(imbalance.findings.empty());
  const stats::Table& table = table_named(imbalance, "imbalance");
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(integer(table, rank, "Came Last") == 0);
  const RuleAnswer overlap = answer(*trace, "comm_overlap");
  REQUIRE(overlap.findings.size() == 1);
  CHECK(overlap.findings[0].cost < 4 * kSteps * 12 * 110'000);  // the transfers, of which the last stage has half
}

TEST_CASE("where collectives can't be matched, no more than a bound is said of waiting") {
  // The names differ: the ranks differ in their total communication time.
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t number = 0; number < 2; ++number) {
    Scenario rank(builder, 100 + number);
    rank.on_gpu(number);
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds t = 10 * step * kMillisecond;
      rank.kernel("gemm", t, t + 5'000, t + 10'000, t + 5 * kMillisecond);
      rank.kernel(number == 0 ? "ncclDevKernel_AllReduce_1" : "ncclDevKernel_AllReduce_2", t + 5'000, t + 10'000, t + 5 * kMillisecond,
                  t + (number == 0 ? 8 : 6) * kMillisecond, 20);
    }
  }
  const auto trace = builder->snapshot();
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  REQUIRE(imbalance.findings.size() == 1);
  CHECK_THAT(imbalance.findings[0].title, contains_text("the others waited for it for up to 40.0 ms on average"));
  CHECK_THAT(answer(*trace, "comm_overlap").findings.at(0).seen, contains_text("of which up to 40.0 ms was waiting"));
}

TEST_CASE("ranks of which one was recorded for a shorter time are compared by what both were recorded in, or not at all") {
  // Both ranks do the same: 30 ms of computing and 20 ms of reducing in each step; of the second rank, 12 of 40 steps were recorded.
  std::vector<TraceSource> files;
  for (const int number : {0, 1}) {
    Scenario rank(100 + static_cast<std::uint32_t>(number));
    for (int step = 0; step < (number == 0 ? 40 : 12); ++step) {
      const Nanoseconds t = step * 50 * kMillisecond;
      rank.range("step " + std::to_string(step), t, t + 50 * kMillisecond - 1'000);
      rank.kernel("gemm", t, t + 5'000, t + 10'000, t + 30 * kMillisecond);
      rank.kernel("ncclDevKernel_AllReduce", t + 6'000, t + 11'000, t + 30 * kMillisecond, t + 50 * kMillisecond - 10'000);
    }
    files.push_back({rank.trace(), "rank" + std::to_string(number) + ".trace", 0});
  }
  const auto trace = combine_traces(files);
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  CHECK(imbalance.findings.empty());
  CHECK_THAT(imbalance.message, contains_text("recorded for times of unlike length"));
  for (const Finding& finding : answer(*trace, "comm_overlap").findings) CHECK_THAT(finding.seen, !contains_text("waiting for a rank"));
}

TEST_CASE("of files whose GPUs have one number each, findings and tables say which file's is meant") {
  std::vector<TraceSource> files;
  for (const int number : {0, 1}) {
    Scenario program(100);  // the process ids are equal as well, as in containers
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds t = i * (10 + number) * kMillisecond, loading = (4 + 4 * number) * kMillisecond;
      if (number == 0) program.os_call("read", t, t + loading);
      program.kernel("k", t + loading, t + loading + 5'000, t + loading + 10'000, t + loading + kMillisecond);
    }
    files.push_back({program.trace(), "rank" + std::to_string(number) + ".trace", 0});
  }
  const auto trace = combine_traces(files);
  const RuleAnswer bubbles = answer(*trace, "gpu_bubbles");
  const Finding& reading = *std::find_if(bubbles.findings.begin(), bubbles.findings.end(), [](const Finding& one) { return one.key == "os_io"; });
  CHECK_THAT(reading.title, contains_text("rank0.trace: GPU 0 was idle"));
  std::map<std::string, std::int64_t> idle;  // by file
  for (const NamedTable& named : bubbles.tables) {
    if (named.name != "gpu_bubbles_causes") continue;
    const std::vector<stats::Column>& columns = named.table.columns();
    REQUIRE(columns.back().title == "File");
    for (std::size_t row = 0; row < named.table.row_count(); ++row) idle[std::string(named.table.text(columns.back().text(row)))] += columns[2].integer(row);
  }
  REQUIRE(idle.size() == 2);
  const auto report = stats::make_report(*stats::find_report("gpu_idle_sum"), *trace);
  REQUIRE(report);
  CHECK_THAT(stats::format_table(*report, stats::Format::kCsv), contains_text("rank1.trace: "));
  for (const GpuIdle& gpu : visit_idle(*trace, 1, [](const IdleGap&, std::span<const IdlePart>) {}))
    CHECK(idle[gpu.gpu == 0 ? "rank0.trace" : "rank1.trace"] == gpu.idle);
}

TEST_CASE("GPUs of unlike work are no ranks where nothing tells that they communicate") {
  const auto trace_of = [](const char* on_second_gpu) {
    Scenario program;
    Scenario second = program;
    second = second.on_another_thread();
    second.on_gpu(1);
    for (int step = 0; step < 20; ++step) {
      const Nanoseconds t = step * 10 * kMillisecond;
      program.range("step " + std::to_string(step), t, t + 9 * kMillisecond);
      program.kernel("work", t, t + 5'000, t + 10'000, t + 8 * kMillisecond);
      program.kernel(on_second_gpu, t + 8 * kMillisecond, t + 8 * kMillisecond + 5'000, t + 8 * kMillisecond + 10'000, t + 8 * kMillisecond + 50'000);
      second.kernel("fill", t, t + 5'000, t + 10'000, t + 100'000);
      second.kernel(on_second_gpu, t + 8 * kMillisecond, t + 8 * kMillisecond + 5'000, t + 8 * kMillisecond + 10'000, t + 8 * kMillisecond + 50'000);
    }
    return program.trace();
  };
  CHECK(answer(*trace_of("other"), "imbalance").findings.empty());
  const auto communicating = answer(*trace_of("ncclDevKernel_AllReduce"), "imbalance").findings;
  REQUIRE(communicating.size() == 1);
  CHECK_THAT(communicating[0].title, contains_text("where they meet, the others wait for it"));
}

TEST_CASE("one rank alone waits for nobody, nor do ranks of unlike collectives") {
  CHECK(waits_of({rank_with({{0, 100}})})[0].matched == 0);
  for (const RankWait& wait : waits_of({rank_with({{0, 100}}, 1), rank_with({{0, 100}}, 2)})) CHECK(wait.matched == 0);
}
