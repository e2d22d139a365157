// Several programs in one trace: the ranks of each are judged among themselves.
#include <algorithm>

#include "answers.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace_builder.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

constexpr int kSteps = 20;

// A program whose ranks reduce at the end of each step.
enum class Number : std::uint8_t { kKnown, kUnknown };
struct Job {
  std::uint32_t first_pid = 100;
  std::uint32_t ranks = 2;
  std::string range = "step";
  Nanoseconds begin = 0;
  Nanoseconds compute = 10 * kMillisecond;
  int late = -1;               // the rank that sleeps for 5 ms in each step
  std::uint32_t launcher = 1;  // of the first rank
  Number rank_in_job = Number::kKnown;
  std::uint32_t launchers = 1;  // what ranks are started by in turn, whose ids follow each other
};
constexpr Nanoseconds kLate = 5 * kMillisecond, kTransfer = kMillisecond;

void add(const std::shared_ptr<TraceBuilder>& builder, const Job& job) {
  for (std::uint32_t number = 0; number < job.ranks; ++number) {
    Scenario rank(builder, job.first_pid + number);
    rank.on_gpu(job.first_pid % 100 + number);
    Process& process = builder->process(rank.process());
    process.parent_pid = job.launcher + number % job.launchers;
    if (job.rank_in_job == Number::kKnown) process.place.rank = number;
    const Nanoseconds late = job.late < 0 ? 0 : kLate, step = job.compute + late + kTransfer + kMillisecond;
    for (int i = 0; i < kSteps; ++i) {
      const Nanoseconds t = job.begin + i * step, end = t + job.compute + late + kTransfer;
      const Nanoseconds start = t + (static_cast<int>(number) == job.late ? late : 0);
      rank.range(job.range + " " + std::to_string(i), t, t + step - 1'000);
      if (start > t) rank.os_call("nanosleep", t + 5'000, start - 5'000);
      rank.kernel("gemm", start, start + 5'000, start + 10'000, start + job.compute);
      rank.kernel("ncclDevKernel_AllReduce", start + 10'000, start + 15'000, start + job.compute, end);
      rank.call("cudaStreamSynchronize", start + 20'000, end + 10'000);
    }
  }
}

std::shared_ptr<const Trace> trace_of(const std::vector<Job>& jobs) {
  const auto builder = std::make_shared<TraceBuilder>();
  for (const Job& job : jobs) add(builder, job);
  return builder->snapshot();
}

}  // namespace

TEST_CASE("a late rank of the second program in a trace is found, and its finding names its own loop") {
  // The first program's iterations cover more time: three times as long, on two GPUs of its own. Nothing is wrong with it.
  const Job first{.compute = 60 * kMillisecond}, second{.first_pid = 210, .ranks = 3, .range = "pass", .late = 2};
  const auto trace = trace_of({first, second});
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  REQUIRE(imbalance.findings.size() == 1);
  CHECK_THAT(imbalance.findings[0].title, contains_text("[212]") && contains_text("the loop \"pass *\"") && contains_text("came last"));
  CHECK(static_cast<double>(imbalance.findings[0].cost) == Approx(2 * kSteps * kLate).epsilon(0.01));
  const stats::Table& ranks = table_named(imbalance, "imbalance");
  REQUIRE(ranks.row_count() == 5);
  for (std::size_t row = 0; row < 5; ++row)
    if (text(ranks, row, "Rank").find("[212]") != std::string::npos) CHECK(integer(ranks, row, "Came Last") == kSteps);
  // The table says which of them are compared with each other.
  for (std::size_t row = 0; row < 5; ++row) CHECK(integer(ranks, row, "Program") == (text(ranks, row, "Rank").find("[10") != std::string::npos ? 1 : 2));

  // Each program communicates for 1 ms of a step, beside what it waits.
  const RuleAnswer overlap = answer(*trace, "comm_overlap");
  REQUIRE(overlap.findings.size() == 2);
  CHECK_THAT(overlap.findings[0].title, contains_text("3 ranks") && contains_text("the loop \"pass *\""));
  CHECK_THAT(overlap.findings[1].title, contains_text("2 ranks") && contains_text("the loop \"step *\""));
  CHECK(table_named(overlap, "comm_overlap").row_count() == 5);
}

TEST_CASE("runs of one program that follow each other are not compared with each other") {
  // In the second run each step takes twice as long, on all of its ranks.
  const auto trace = trace_of({{.first_pid = 100}, {.first_pid = 200, .begin = 1'000 * kMillisecond, .compute = 20 * kMillisecond}});
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  CHECK(imbalance.findings.empty());
  const stats::Table& ranks = table_named(imbalance, "imbalance");
  for (std::size_t row = 0; row < 4; ++row) CHECK(ranks.columns()[1].real(row) == Approx(100));
  const RuleAnswer overlap = answer(*trace, "comm_overlap");
  REQUIRE(overlap.findings.size() == 2);
  for (const Finding& finding : overlap.findings) CHECK_THAT(finding.title, contains_text("2 ranks"));
}

TEST_CASE("two jobs that run side by side with the same ranges and ranks are told apart by what started them") {
  const auto trace = trace_of({{.first_pid = 100, .launcher = 1}, {.first_pid = 210, .compute = 20 * kMillisecond, .launcher = 2}});
  CHECK(answer(*trace, "imbalance").findings.empty());
  CHECK(answer(*trace, "comm_overlap").findings.size() == 2);
}

TEST_CASE("two jobs whose ranks are not known are told apart by what started them, and by whom their ranks meet") {
  constexpr auto kUnknown = Number::kUnknown;
  const auto trace = trace_of(
      {{.first_pid = 100, .launcher = 1, .rank_in_job = kUnknown}, {.first_pid = 210, .compute = 20 * kMillisecond, .launcher = 2, .rank_in_job = kUnknown}});
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  CHECK(imbalance.findings.empty());
  const stats::Table& ranks = table_named(imbalance, "imbalance");
  REQUIRE(ranks.row_count() == 4);
  for (std::size_t row = 0; row < 4; ++row) CHECK(ranks.columns()[1].real(row) == Approx(100));
  CHECK(answer(*trace, "comm_overlap").findings.size() == 2);

  // Ranks that processes of their own started, but that meet in each step, are of one program.
  const RuleAnswer late = answer(*trace_of({{.ranks = 3, .late = 2, .rank_in_job = kUnknown, .launchers = 3}}), "imbalance");
  REQUIRE(late.findings.size() == 1);
  CHECK_THAT(late.findings[0].title, contains_text("[102]") && contains_text("came last"));
}

TEST_CASE("programs are told apart in a part of a trace, too") {
  const auto trace = trace_of({{.compute = 60 * kMillisecond}, {.first_pid = 210, .ranks = 3, .range = "pass", .late = 2}});
  const std::vector<RuleRequest> requests{*parse_rule("imbalance")};
  const RuleAnswer imbalance = apply_rules(*trace, requests, {}, TimeRange{100 * kMillisecond, 250 * kMillisecond})->front();
  REQUIRE(imbalance.findings.size() == 1);
  CHECK_THAT(imbalance.findings[0].title, contains_text("[212]") && contains_text("came last"));
}

TEST_CASE("a slow step of a rank is not laid to the same step of another run of the program") {
  // In both runs the same step takes 50 ms longer on all ranks, and each run is said to be slow there for itself.
  const auto builder = std::make_shared<TraceBuilder>();
  for (const std::uint32_t run : {0u, 1u})
    for (std::uint32_t number = 0; number < 2; ++number) {
      Scenario rank(builder, 100 + 100 * run + number);
      rank.on_gpu(2 * run + number);
      Nanoseconds t = run * 10'000 * kMillisecond;
      for (int i = 0; i < kSteps; ++i) {
        const Nanoseconds compute = (i == 7 ? 60 : 10) * kMillisecond;
        rank.range("step " + std::to_string(i), t, t + compute + 2 * kMillisecond - 1'000);
        rank.kernel("gemm", t, t + 5'000, t + 10'000, t + compute);
        rank.kernel("ncclDevKernel_AllReduce", t + 10'000, t + 15'000, t + compute, t + compute + kMillisecond);
        rank.call("cudaStreamSynchronize", t + 20'000, t + compute + kMillisecond + 10'000);
        t += compute + 2 * kMillisecond;
      }
    }
  const RuleAnswer tail = answer(*builder->snapshot(), "tail");
  REQUIRE(tail.findings.size() == 2);
  for (const Finding& finding : tail.findings) CHECK_THAT(finding.seen, contains_text("The same iterations took longer on 1 other rank as well"));
}

TEST_CASE("overhead of the profiler makes a step slow, though another program's counters were read") {
  const auto builder = std::make_shared<TraceBuilder>();
  Scenario reads(builder, 100), other(builder, 200);
  reads.on_gpu(0);
  other.on_gpu(1);
  Nanoseconds t = 0;
  for (int i = 0; i < kSteps; ++i) {
    const Nanoseconds flushing = i == 7 ? 50 * kMillisecond : 0, start = t + flushing, end = start + 10 * kMillisecond;
    reads.range("step " + std::to_string(i), i * 10 * kMillisecond, (i + 1) * 10 * kMillisecond - 1'000);
    reads.kernel("work", i * 10 * kMillisecond, i * 10 * kMillisecond + 5'000, i * 10 * kMillisecond + 10'000, (i + 1) * 10 * kMillisecond - 10'000);
    other.range("pass " + std::to_string(i), t, end - 1'000);
    if (flushing > 0) other.overhead(t, start);
    other.kernel("work", start, start + 5'000, start + 10'000, end - 10'000);
    t = end;
  }
  builder->add(MeasuredLaunch{reads.process(), 1, KernelReplay::kKernel, 3, {}, 0, {}});
  const RuleAnswer tail = answer(*builder->snapshot(), "tail");
  REQUIRE(tail.findings.size() == 1);
  CHECK_THAT(tail.findings[0].title, contains_text("pass *") && contains_text("50.0 ms more"));
  const RuleAnswer bubbles = answer(*builder->snapshot(), "gpu_bubbles");
  REQUIRE_FALSE(bubbles.findings.empty());
  CHECK(bubbles.findings[0].key == "overhead");
  CHECK(bubbles.findings[0].cost == 50 * kMillisecond);
}
