// Stages of a pipeline that wait for each other, with known bubbles; and ranks that are no pipeline.
#include <algorithm>
#include <random>

#include "answers.h"
#include "model/trace/combining/combine.h"
#include "model/trace/trace_builder.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

constexpr int kSteps = 8;
constexpr Nanoseconds kForward = 2 * kMillisecond, kBackward = 4 * kMillisecond, kTransfer = 20 * kMicrosecond;

// Ranks, each with the time at which its GPU has finished its work.
class Program {
 public:
  explicit Program(std::size_t ranks) : free_(ranks, 10 * kMillisecond), begin_(ranks) {
    for (std::size_t i = 0; i < ranks; ++i) {
      ranks_.emplace_back(builder_, 100 + static_cast<std::uint32_t>(i));
      ranks_.back().on_gpu(static_cast<std::uint32_t>(i));
    }
  }
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  Nanoseconds& free(std::size_t rank) { return free_[rank]; }
  void begin_step() {
    for (std::size_t i = 0; i < size(); ++i) {
      begin_[i] = free_[i];
      enqueued_.assign(size(), 0);
    }
  }
  // All work of a step is enqueued when the step starts.
  void run(std::size_t rank, const char* name, Nanoseconds until) {
    const Nanoseconds call = begin_[rank] + 1'000 * enqueued_[rank]++;
    free_[rank] = std::max(free_[rank], call + 2'000);
    ranks_[rank].kernel(name, call, call + 500, free_[rank], std::max(until, free_[rank] + 1'000));
    free_[rank] = std::max(until, free_[rank] + 1'000) + 500;
  }
  void compute(std::size_t rank, Nanoseconds length) { run(rank, "gemm", std::max(free_[rank], begin_[rank] + 1'000 * enqueued_[rank] + 2'000) + length); }
  void transfer(std::size_t rank, Nanoseconds arrives) {
    run(rank, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", std::max(free_[rank], arrives) + kTransfer);
  }
  // All ranks meet when the last one has come.
  void reduce() {
    const Nanoseconds last = *std::max_element(free_.begin(), free_.end());
    for (std::size_t rank = 0; rank < size(); ++rank) run(rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", last + 200 * kMicrosecond);
  }
  void end_step(int number) {
    for (std::size_t i = 0; i < size(); ++i) {
      ranks_[i].call("cudaStreamSynchronize", begin_[i] + 1'000 * enqueued_[i] + 1'000, free_[i]);
      free_[i] += 2'000;
      ranks_[i].range("step " + std::to_string(number), begin_[i], free_[i]);
      free_[i] += 1'000;
    }
  }
  std::shared_ptr<const Trace> trace() { return builder_->snapshot(); }

 private:
  std::shared_ptr<TraceBuilder> builder_ = std::make_shared<TraceBuilder>();
  std::vector<Scenario> ranks_;
  std::vector<Nanoseconds> free_, begin_, enqueued_;
};

// All forward, then all backward; each part is received and sent in a kernel of its own. The first of `replicas` pipelines has the first rank of each stage.
// Each rank first sets its gradients to zero, if `zeroing` is not 0.
std::shared_ptr<const Trace> pipeline(std::size_t stages, std::size_t batches, std::size_t replicas = 1, Nanoseconds slow_stage = 0, Nanoseconds zeroing = 0) {
  Program program(stages * replicas);
  for (int step = 0; step < kSteps; ++step) {
    program.begin_step();
    for (std::size_t rank = 0; rank < program.size() && zeroing > 0; ++rank) program.compute(rank, zeroing);
    for (std::size_t replica = 0; replica < replicas; ++replica) {
      const auto rank = [&](std::size_t stage) { return stage * replicas + replica; };
      for (std::size_t batch = 0; batch < batches; ++batch)
        for (std::size_t stage = 0; stage < stages; ++stage) {
          if (stage > 0) program.transfer(rank(stage), program.free(rank(stage - 1)));
          program.compute(rank(stage), kForward + (stage == 1 ? slow_stage : 0));
          if (stage + 1 < stages) program.transfer(rank(stage), 0);
        }
      for (std::size_t batch = 0; batch < batches; ++batch)
        for (std::size_t stage = stages; stage-- > 0;) {
          if (stage + 1 < stages) program.transfer(rank(stage), program.free(rank(stage + 1)));
          program.compute(rank(stage), kBackward);
          if (stage > 0) program.transfer(rank(stage), 0);
        }
    }
    program.end_step(step);
  }
  return program.trace();
}

// One forward and one backward alternate, except while the pipeline fills and drains; both transfers between two stages at one time are one kernel.
std::shared_ptr<const Trace> pipeline_in_pairs(std::size_t stages, std::size_t batches) {
  struct Part {
    enum Kind {
      kForward,
      kBackward,
      kReceiveForward,
      kSendForward,
      kReceiveBackward,
      kSendBackward,
      kSendForwardReceiveBackward,
      kSendBackwardReceiveForward
    } kind;
    std::size_t batch;  // the part that is computed or received
  };
  std::vector<std::vector<Part>> parts(stages);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const std::size_t warm_up = std::min(batches, stages - 1 - stage);
    const bool is_first = stage == 0, is_last = stage + 1 == stages;
    const auto add = [&](Part::Kind kind, std::size_t batch, bool exists = true) {
      if (exists) parts[stage].push_back({kind, batch});
    };
    std::size_t backward = 0;
    for (std::size_t i = 0; i < warm_up; ++i) add(Part::kReceiveForward, i, !is_first), add(Part::kForward, i), add(Part::kSendForward, i, !is_last);
    if (warm_up < batches) add(Part::kReceiveForward, warm_up, !is_first);
    for (std::size_t i = warm_up; i < batches; ++i) {
      add(Part::kForward, i);
      add(Part::kSendForwardReceiveBackward, backward, !is_last);
      add(Part::kBackward, backward++);
      if (i + 1 < batches)
        add(Part::kSendBackwardReceiveForward, i + 1, !is_first);
      else
        add(Part::kSendBackward, backward - 1, !is_first);
    }
    for (std::size_t i = 0; i < warm_up; ++i)
      add(Part::kReceiveBackward, backward, !is_last), add(Part::kBackward, backward++), add(Part::kSendBackward, backward - 1, !is_first);
  }
  Program program(stages);
  for (int step = 0; step < kSteps; ++step) {
    program.begin_step();
    constexpr Nanoseconds kNever = -1;
    std::vector<std::vector<Nanoseconds>> forward(stages, std::vector<Nanoseconds>(batches, kNever)),
        backward = forward;  // the time at which each part is computed
    std::vector<std::size_t> next(stages);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t stage = 0; stage < stages; ++stage)
        while (next[stage] < parts[stage].size()) {
          const auto [kind, batch] = parts[stage][next[stage]];
          Nanoseconds arrives = 0;
          if (kind == Part::kReceiveForward || kind == Part::kSendBackwardReceiveForward) arrives = forward[stage - 1][batch];
          if (kind == Part::kReceiveBackward || kind == Part::kSendForwardReceiveBackward) arrives = backward[stage + 1][batch];
          if (arrives == kNever) break;
          if (kind == Part::kForward || kind == Part::kBackward) {
            program.compute(stage, kind == Part::kForward ? kForward : kBackward);
            (kind == Part::kForward ? forward : backward)[stage][batch] = program.free(stage);
          } else {
            program.transfer(stage, arrives);
          }
          ++next[stage];
          goes_on = true;
        }
    }
    for (std::size_t stage = 0; stage < stages; ++stage) REQUIRE(next[stage] == parts[stage].size());
    program.end_step(step);
  }
  return program.trace();
}

// All forward, then all backward, and all stages reduce at the end of each step: the first stage, whose gradients come last, comes last to that.
std::shared_ptr<const Trace> reducing_pipeline(std::size_t stages, std::size_t batches, std::size_t slow = 0, Nanoseconds slower = 0) {
  Program program(stages);
  for (int step = 0; step < 20; ++step) {
    program.begin_step();
    for (std::size_t batch = 0; batch < batches; ++batch)
      for (std::size_t stage = 0; stage < stages; ++stage) {
        if (stage > 0) program.transfer(stage, program.free(stage - 1));
        program.compute(stage, kForward + (stage == slow ? slower : 0));
        if (stage + 1 < stages) program.transfer(stage, 0);
      }
    for (std::size_t batch = 0; batch < batches; ++batch)
      for (std::size_t stage = stages; stage-- > 0;) {
        if (stage + 1 < stages) program.transfer(stage, program.free(stage + 1));
        program.compute(stage, kBackward);
        if (stage > 0) program.transfer(stage, 0);
      }
    program.reduce();
    program.end_step(step);
  }
  return program.trace();
}

}  // namespace

TEST_CASE("stages that go forward and backward in turn, in pairs of transfers, wait for as much") {
  const auto [stages, batches] = GENERATE(table<std::size_t, std::size_t>({{4, 8}, {3, 5}, {8, 16}}));
  const RuleAnswer found = answer(*pipeline_in_pairs(stages, batches), "pipeline_bubbles");
  INFO(stages << " stages, " << batches << " micro-batches");
  REQUIRE(found.findings.size() == 1);
  CHECK_THAT(found.findings[0].seen, contains_text("Micro-batches a step: " + std::to_string(batches) + "."));
  const stats::Table& table = table_named(found, "pipeline_bubbles");
  const auto bubble = static_cast<Nanoseconds>(stages - 1) * (kForward + kBackward);
  for (std::size_t row = 0; row < stages; ++row) {
    CHECK(integer(table, row, "Stage") == static_cast<std::int64_t>(row));
    CHECK(static_cast<double>(integer(table, row, "Waiting")) >= static_cast<double>((kSteps - 1) * bubble) * 0.95);
    CHECK(static_cast<double>(integer(table, row, "Waiting")) <= static_cast<double>(kSteps * bubble) * 1.15);
  }
}

TEST_CASE("a pipeline that only goes forward is found, though its first stage waits for nobody") {
  Program program(4);
  for (int step = 0; step < kSteps; ++step) {
    program.begin_step();
    for (std::size_t batch = 0; batch < 6; ++batch)
      for (std::size_t stage = 0; stage < 4; ++stage) {
        if (stage > 0) program.transfer(stage, program.free(stage - 1));
        program.compute(stage, kForward);
        if (stage < 3) program.transfer(stage, 0);
      }
    for (std::size_t stage = 0; stage < 3; ++stage) program.free(stage) = program.free(3);  // all ranks end a step together
    program.end_step(step);
  }
  const std::vector<Finding> found = answer(*program.trace(), "pipeline_bubbles").findings;
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].seen, contains_text("Micro-batches a step: 6.") && contains_text("33 %"));
  CHECK(static_cast<double>(found[0].cost) == Approx(kSteps * (1 + 2 + 3) * kForward).epsilon(0.05));
}

TEST_CASE("each stage of a pipeline waits while it fills and drains, for (p - 1) / (m + p - 1) of a step") {
  const auto [stages, batches, replicas] = GENERATE(table<std::size_t, std::size_t, std::size_t>({{4, 8, 1}, {4, 4, 1}, {3, 6, 2}, {8, 8, 1}}));
  const auto trace = pipeline(stages, batches, replicas);
  const RuleAnswer found = answer(*trace, "pipeline_bubbles");
  INFO(stages << " stages, " << batches << " micro-batches, " << replicas << " replicas");
  REQUIRE(found.findings.size() == 1);
  CHECK_THAT(found.findings[0].title, contains_text("The " + std::to_string(stages) + " stages of a pipeline"));
  CHECK_THAT(found.findings[0].seen, contains_text("Micro-batches a step: " + std::to_string(batches) + "."));
  const std::size_t percent = (100 * (stages - 1) + (batches + stages - 1) / 2) / (batches + stages - 1);
  CHECK_THAT(found.findings[0].seen, contains_text("for " + std::to_string(percent) + " % of it"));
  const stats::Table& table = table_named(found, "pipeline_bubbles");
  REQUIRE(table.row_count() == stages * replicas);
  const auto bubble = static_cast<Nanoseconds>(stages - 1) * (kForward + kBackward);
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    CHECK(integer(table, row, "Stage") == static_cast<std::int64_t>(row / replicas));
    // All stages except the first wait less in the first step, into which nothing drains; transfers take some time as well.
    const auto waited = static_cast<double>(integer(table, row, "Waiting"));
    CHECK(waited >= static_cast<double>((kSteps - 1) * bubble) * 0.95);
    CHECK(waited <= static_cast<double>(kSteps * bubble) * 1.1);
  }
}

TEST_CASE("the stages of a pipeline are found beside another program whose iterations cover more time") {
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t number = 0; number < 2; ++number) {
    Scenario rank(builder, 100 + number);
    rank.on_gpu(number);
    for (int i = 0; i < 20; ++i) {
      const Nanoseconds t = i * 100 * kMillisecond;
      rank.range("epoch " + std::to_string(i), t, t + 100 * kMillisecond - 1'000);
      rank.kernel("gemm", t, t + 5'000, t + 10'000, t + 90 * kMillisecond);
    }
  }
  const auto trace = combine_traces(std::vector<TraceSource>{{builder->snapshot(), "epochs.trace", 0}, {pipeline(4, 8), "pipeline.trace", 0}});
  const RuleAnswer found = answer(*trace, "pipeline_bubbles");
  REQUIRE(found.findings.size() == 1);
  CHECK_THAT(found.findings[0].title, contains_text("The 4 stages of a pipeline") && contains_text("the loop \"step *\"") && contains_text("pipeline.trace: "));
}

TEST_CASE("a stage that takes longer keeps the others of its pipeline waiting beyond what fills and drains") {
  const Finding balanced = answer(*pipeline(4, 8), "pipeline_bubbles").findings.at(0);
  const std::vector<Finding> found = answer(*pipeline(4, 8, 1, 2 * kMillisecond), "pipeline_bubbles").findings;
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost > balanced.cost + 3 * (kSteps - 1) * 8 * kMillisecond);
}

TEST_CASE("of a pipeline of two stages, the number of micro-batches is not told: many schedules send as often") {
  const std::vector<Finding> found = answer(*pipeline(2, 4), "pipeline_bubbles").findings;
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].seen, contains_text("can't be told"));
}

TEST_CASE("ranks that exchange data, of which one may be late, and such that reduce are no pipeline") {
  const std::size_t ranks = GENERATE(1u, 2u, 4u);
  const int kind = GENERATE(0, 1, 2, 3);  // equal; varying; one late on its CPU; one that computes longer
  const char* const name =
      GENERATE("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  std::mt19937_64 random(kind);
  std::uniform_real_distribution<double> part(0.7, 1.3);
  Program program(ranks);
  for (int step = 0; step < 20; ++step) {
    if (kind == 2) program.free(ranks - 1) += 3 * kMillisecond;
    program.begin_step();
    for (int layer = 0; layer < 4; ++layer) {
      Nanoseconds last = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        program.compute(rank, static_cast<Nanoseconds>(2'000'000 * (kind == 1 ? part(random) : kind == 3 && rank == 0 ? 2 : 1)));
        last = std::max(last, program.free(rank));
      }
      for (std::size_t rank = 0; rank < ranks; ++rank) program.run(rank, name, last + 100 * kMicrosecond);
    }
    program.end_step(step);
  }
  INFO(ranks << " ranks, kind " << kind);
  const RuleAnswer found = answer(*program.trace(), "pipeline_bubbles");
  CHECK(found.findings.empty());
  CHECK_FALSE(found.message.empty());
}

TEST_CASE("ranks that exchange data before they compute, for which one is late, are no pipeline") {
  // As in mixtures of experts: all ranks meet first in each step, and the last one to come keeps all others waiting equally.
  const std::size_t ranks = GENERATE(2u, 3u, 4u, 8u);
  const int which = GENERATE(0, 1, 2);  // the first rank is late; the ranks are late in turn; each is late by another time
  Program program(ranks);
  for (int step = 0; step < 24; ++step) {
    for (std::size_t rank = 0; which == 2 && rank < ranks; ++rank) program.free(rank) += static_cast<Nanoseconds>(rank) * kMillisecond;
    if (which < 2) program.free(which == 1 ? static_cast<std::size_t>(step) % ranks : 0) += 3 * kMillisecond;
    Nanoseconds last = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) last = std::max(last, program.free(rank));
    program.begin_step();
    for (std::size_t rank = 0; rank < ranks; ++rank) program.run(rank, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", last + 100 * kMicrosecond);
    for (std::size_t rank = 0; rank < ranks; ++rank) program.compute(rank, 5 * kMillisecond);
    program.end_step(step);
  }
  INFO(ranks << " ranks");
  CHECK(answer(*program.trace(), "pipeline_bubbles").findings.empty());
}

TEST_CASE("a pipeline is one, too, where each stage sets its gradients to zero before it waits") {
  const RuleAnswer without = answer(*pipeline(4, 8), "pipeline_bubbles"), with = answer(*pipeline(4, 8, 1, 0, 5 * kMicrosecond), "pipeline_bubbles");
  REQUIRE(without.findings.size() == 1);
  REQUIRE(with.findings.size() == 1);
  // In each step, the stages start to wait later by at most the time that setting to zero takes.
  CHECK(with.findings[0].cost <= without.findings[0].cost);
  CHECK(with.findings[0].cost >= without.findings[0].cost - kSteps * 10 * 4 * kMicrosecond);
}

TEST_CASE("the first stage of a pipeline is not blamed for coming last to what all stages reduce: it waited for the others") {
  const auto trace = reducing_pipeline(4, 6);
  const RuleAnswer imbalance = answer(*trace, "imbalance");
  CHECK(imbalance.findings.empty());
  const stats::Table& table = table_named(imbalance, "imbalance");
  CHECK(integer(table, 0, "Came Last") == 20);
  CHECK(integer(table, 0, "Others Waited") > 20 * 3 * kForward);
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(integer(table, rank, "Caused Waiting") < 20 * kForward / 10);
  CHECK(answer(*trace, "pipeline_bubbles").findings.size() == 1);

  // A stage that computes longer is reported as such.
  const RuleAnswer slow = answer(*reducing_pipeline(4, 6, 2, kForward), "imbalance");
  REQUIRE(slow.findings.size() == 1);
  CHECK_THAT(slow.findings[0].title, contains_text("[102] program") && contains_text("more than the ranks do on average"));
}

TEST_CASE("a rank that waits for another one in a receive is not late to what it reduces with others then") {
  // In each step rank 0 computes for 12 ms and sends to rank 1, which then computes for 2 ms; ranks 2 and 3 compute for as long as both together, and ranks 1
  // to 3 reduce.
  Program program(4);
  for (int step = 0; step < 20; ++step) {
    program.begin_step();
    program.compute(0, 12 * kMillisecond);
    program.transfer(1, program.free(0));
    program.transfer(0, 0);
    for (std::size_t rank = 1; rank < 4; ++rank) program.compute(rank, 2 * kMillisecond);
    const Nanoseconds end = program.free(1) + 200 * kMicrosecond;
    for (std::size_t rank = 1; rank < 4; ++rank) program.run(rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", end);
    program.end_step(step);
    for (std::size_t rank = 0; rank < 4; ++rank) program.free(rank) = end + 10'000;
  }
  const RuleAnswer imbalance = answer(*program.trace(), "imbalance");
  for (const Finding& finding : imbalance.findings) CHECK_THAT(finding.title, !contains_text("came last"));
  const stats::Table& table = table_named(imbalance, "imbalance");
  CHECK(integer(table, 1, "Others Waited") > 20 * 2 * 9 * kMillisecond);
  CHECK(integer(table, 1, "Caused Waiting") < 20 * kMillisecond);
}
