// pipeline_bubbles: stages of a pipeline that wait for each other in sends and receives.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/events/event_values.h"

namespace lanescope::analysis {
namespace {

// What a rank did in a step; operations belong to the step in which they were enqueued.
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max() / 16;
struct StageStep {
  Nanoseconds computes_from = kNever;
  Nanoseconds computes = 0;
  Nanoseconds waited = 0;  // in sends and receives, while nothing was computed
  Nanoseconds filled = 0;  // the part of that before its first computation
  std::uint64_t transfers = 0;
};

struct StageRank {
  const RankWork* rank = nullptr;
  std::vector<StageStep> steps;
  Nanoseconds waited = 0, filled = 0;  // sum over all steps
  std::size_t stage = 0;
};

// Finds the step that each operation belongs to, by its launch.
class StepOfOperation {
 public:
  StepOfOperation(const RuleContext& context, ProcessId process, std::span<const TimeRange> steps) : context_(context), process_(process), steps_(steps) {}
  [[nodiscard]] std::optional<std::size_t> operator()(EventRef operation, Nanoseconds begin) const {
    const EventRef launch = context_.launches().find(process_, context_.trace.lane(operation.lane).correlation(operation.index), begin);
    const Nanoseconds enqueued = launch.valid() ? context_.trace.lane(launch.lane).start(launch.index) : begin;
    const auto found = std::upper_bound(steps_.begin(), steps_.end(), enqueued, [](Nanoseconds t, const TimeRange& step) { return t < step.end; });
    if (found == steps_.end() || found->begin > enqueued) return std::nullopt;
    return static_cast<std::size_t>(found - steps_.begin());
  }

 private:
  const RuleContext& context_;
  ProcessId process_;
  std::span<const TimeRange> steps_;
};

bool sends_and_receives(const RankWork& rank) {
  return std::any_of(rank.communication_kernels->begin(), rank.communication_kernels->end(), [](const CommunicationKernel& one) { return !one.is_collective; });
}

StageRank stage_of(const RuleContext& context, const GpuTracks& tracks, NameMemo<bool>& communicates, const RankWork& rank, std::span<const TimeRange> steps) {
  const Trace& trace = context.trace;
  StageRank found{&rank, std::vector<StageStep>(steps.size()), 0, 0, 0};
  const StepOfOperation step_of(context, rank.process, steps);
  const auto for_each_computation = [&](auto visit) {
    GpuOperations operations(trace, tracks.of(rank.gpu, rank.process), rank.extent, context.stop);
    while (const std::optional<GpuOperation> operation = operations.next()) {
      const TrackKind kind = trace.track_of(operation->event.lane).key.kind;
      if (kind == TrackKind::kMemory) continue;
      if (kind == TrackKind::kKernels && communicates(trace.lane(operation->event.lane).name(operation->event.index))) continue;
      if (const auto step = step_of(operation->event, operation->range.begin)) visit(found.steps[*step], operation->range);
    }
  };
  for_each_computation([](StageStep& step, TimeRange operation) { step.computes += operation.length(); });
  // Operations that set gradients to zero or make a mask before a step's first receive are not the computation of a stage.
  constexpr Nanoseconds kPreparing = 100;  // a hundredth of the step's computation
  std::vector<Nanoseconds> begun(steps.size());
  for_each_computation([&](StageStep& step, TimeRange operation) {
    Nanoseconds& so_far = begun[static_cast<std::size_t>(&step - found.steps.data())];
    so_far += operation.length();
    if (step.computes_from == kNever && so_far * kPreparing > step.computes) step.computes_from = operation.begin;
  });
  std::map<NameId, Nanoseconds> shortest;  // the shortest kernel is only the transfer
  for (const CommunicationKernel& kernel : *rank.communication_kernels)
    if (!kernel.is_collective) {
      const auto known = shortest.try_emplace(kernel.name, kernel.range.length()).first;
      known->second = std::min(known->second, kernel.range.length());
    }
  ComputedTime computed(trace, tracks.of(rank.gpu, rank.process), communicates);
  Nanoseconds until = std::numeric_limits<Nanoseconds>::min();  // if two run at once, the time counts once
  for (const CommunicationKernel& kernel : *rank.communication_kernels) {
    if (kernel.is_collective) continue;
    const std::optional<std::size_t> number = step_of(kernel.event, kernel.range.begin);
    if (!number) continue;
    StageStep& step = found.steps[*number];
    ++step.transfers;
    const TimeRange wait{std::max(until, kernel.range.begin), kernel.range.end - shortest[kernel.name]};
    if (wait.end <= wait.begin) continue;
    until = wait.end;
    const auto exposed = [&](TimeRange time) { return time.end > time.begin ? time.length() - computed.within(time) : 0; };
    const Nanoseconds border = std::clamp(step.computes_from, wait.begin, wait.end);
    const Nanoseconds before = exposed({wait.begin, border});
    step.filled += before;
    step.waited += before + exposed({border, wait.end});
  }
  for (const StageStep& step : found.steps) {
    found.waited += step.waited;
    found.filled += step.filled;
  }
  return found;
}

// Puts the ranks in the order of their stages: a stage starts to compute after the one before it has started, and waits for it in a receive until then.
// Returns the number of stages; 0 if this is no pipeline.
std::size_t order_by_stage(std::vector<StageRank>& ranks, std::size_t steps) {
  constexpr Nanoseconds kLeastApart = 4;  // waits of different stages differ by a fourth of the largest difference or more
  constexpr std::size_t kMostOfTen = 8;   // steps in ten in which the order must be the same
  constexpr Nanoseconds kBehind = 8;  // a stage starts to compute after the one before it, by at least an eighth of the time that it waits longer: ranks that
                                      // wait for a late rank all start at the same time
  std::stable_sort(ranks.begin(), ranks.end(), [](const StageRank& a, const StageRank& b) { return a.filled < b.filled; });
  Nanoseconds largest = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) largest = std::max(largest, ranks[i].filled - ranks[i - 1].filled);
  if (largest == 0) return 0;
  for (std::size_t i = 1; i < ranks.size(); ++i)
    ranks[i].stage = ranks[i - 1].stage + (kLeastApart * (ranks[i].filled - ranks[i - 1].filled) >= largest ? 1 : 0);
  const std::size_t stages = ranks.back().stage + 1;
  if (ranks.size() % stages != 0) return 0;
  const std::size_t replicas = ranks.size() / stages;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].stage != i / replicas) return 0;
  for (std::size_t i = replicas; i < ranks.size(); ++i) {
    std::size_t in_order = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      const StageStep &before = ranks[i - replicas].steps[step], &behind = ranks[i].steps[step];
      const Nanoseconds longer = behind.filled - before.filled;
      in_order += longer > 0 && kBehind * (behind.computes_from - before.computes_from) >= longer ? 1 : 0;
    }
    if (10 * in_order < kMostOfTen * steps) return 0;
  }
  return stages;
}

// The number of micro-batches of a step, from the number of sends and receives of its stages; nothing if these do not determine it. With m
// micro-batches and p stages, a stage receives and sends each micro-batch once forward and once backward. If each transfer is a kernel of its own,
// there are 2 m at both ends, and 4 m between. A pipeline that only goes forward has half of these, and its first stage waits for nobody. If
// forward and backward alternate, and their transfers are combined in pairs except while the pipeline fills and drains, there are m + p - 1 at the
// first stage, m + 1 at the last, and 2 m + 2 (p - 1 - s) + 1 at stage s between.
std::optional<std::uint64_t> micro_batches(std::span<const StageRank> ranks, std::size_t stages, std::size_t steps) {
  if (stages == 2) return std::nullopt;  // with all schedules both stages send equally often
  std::vector<std::uint64_t> transfers(stages);
  for (const StageRank& rank : ranks)
    for (std::size_t step = 0; step < steps; ++step) {
      std::uint64_t& of_stage = transfers[rank.stage];
      if (of_stage == 0) of_stage = rank.steps[step].transfers;
      if (rank.steps[step].transfers != of_stage || of_stage == 0) return std::nullopt;
    }
  const std::uint64_t first = transfers.front(), last = transfers.back(), p = stages;
  const auto are_between = [&](auto expected) {
    for (std::size_t stage = 1; stage + 1 < stages; ++stage)
      if (transfers[stage] != expected(stage)) return false;
    return true;
  };
  const bool alone = first == last && are_between([&](std::size_t) { return 2 * first; });
  const std::uint64_t m = last - 1;
  const bool paired = last > 1 && m + 1 >= p && first == m + p - 1 && are_between([&](std::size_t stage) { return 2 * m + 2 * (p - 1 - stage) + 1; });
  if (alone == paired) return std::nullopt;
  if (paired) return m;
  Nanoseconds of_first = 0, of_last = 0;
  for (const StageRank& rank : ranks) (rank.stage == 0 ? of_first : of_last) += rank.stage == 0 || rank.stage + 1 == stages ? rank.waited : 0;
  if (20 * of_first < of_last) return first;
  return 4 * of_first > of_last && first % 2 == 0 ? std::optional(first / 2) : std::nullopt;
}

Message stage_label(const Trace& trace, const RankWork& rank) {
  const std::string file = file_of_process(trace, rank.process), process = process_label(trace, rank.process);
  return Message("{process} on {gpu}", {{"process", file.empty() ? process : file + ": " + process}, {"gpu", gpu_label(trace, rank.gpu)}});
}

Finding describe(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, std::span<const StageRank> ranks, std::size_t stages,
                 std::optional<std::uint64_t> batches) {
  Finding finding;
  finding.rule = "pipeline_bubbles";
  Nanoseconds spans = 0;
  std::vector<Nanoseconds> of_stage(stages);
  for (const StageRank& rank : ranks) {
    finding.cost += rank.waited;
    spans += work.span(rank.rank->gpu, rank.rank->extent);
    of_stage[rank.stage] += rank.waited;
  }
  const auto most = std::max_element(ranks.begin(), ranks.end(), [](const StageRank& a, const StageRank& b) { return a.waited < b.waited; });
  const auto count = static_cast<Nanoseconds>(ranks.size());
  finding.title = Message(
      "The {stages} of a pipeline waited for each other in sends and receives for {time} on average ({share} of {loop}); the longest, {rank}, for {most}.",
      {{"stages", counted(stages, "stage")},
       {"time", duration_text(finding.cost / count)},
       {"share", percent_text(finding.cost, spans)},
       {"loop", work.text(program)},
       {"rank", stage_label(trace, *most->rank)},
       {"most", duration_text(most->waited)}});
  constexpr std::size_t kMostNamed = 8;
  Message times;
  for (std::size_t stage = 0; stage < std::min(kMostNamed, stages); ++stage)
    times = listed(std::move(times), Message::verbatim(duration_text(of_stage[stage] / (count / static_cast<Nanoseconds>(stages)))));
  finding.seen =
      Message(stages > kMostNamed ? "Stage by stage, from the first on: {times}, ..." : "Stage by stage, from the first on: {times}.", {{"times", times}});
  const auto p = static_cast<Nanoseconds>(stages);
  if (batches)
    finding.seen = followed_by(
        std::move(finding.seen),
        Message("Micro-batches a step: {batches}. While the pipeline fills and drains, each stage is without work for {share} of it: (p - 1) / (m + p - 1).",
                {{"batches", std::to_string(*batches)}, {"share", percent_text(p - 1, static_cast<Nanoseconds>(*batches) + p - 1)}}));
  else
    finding.seen = followed_by(std::move(finding.seen), Message("How many micro-batches a step has can't be told from its sends and receives."));
  finding.place.range = most->rank->communication.longest_alone();
  finding.place.gpu = most->rank->gpu;
  finding.place.process = most->rank->process;
  finding.advice =
      "More micro-batches a step, or a schedule that interleaves parts of the stages, leave less to fill and drain; waiting beyond that is of stages of unlike "
      "length: give each the same work.";
  return finding;
}

}  // namespace

Result<RuleAnswer> find_pipeline_bubbles(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  RuleAnswer answer;
  answer.message = "No ranks of a pipeline were found: such as wait for each other in sends and receives, one behind the other in each step.";
  constexpr std::size_t kLeastSteps = 3;
  std::map<ProcessId, std::vector<TimeRange>> steps;
  for (const IterationSeries& series : work.iterations())
    if (const auto [known, is_new] = steps.try_emplace(series.process); is_new) {
      known->second = iteration_times(trace, series);
      known->second.erase(known->second.begin(), known->second.begin() + static_cast<std::ptrdiff_t>(series.warm_up));
    }
  bool any = false;  // the ranks are not examined if no kernel sends
  for (NameId name = 0; name < trace.name_count() && !any; ++name) any = is_send_or_receive_name(trace.name(name));
  if (!any || steps.size() < 2) return answer;
  const GpuTracks tracks(trace);
  NameMemo<bool> communicates(trace, is_communication_name);
  stats::Table table({stats::integers("Stage"), stats::integers("Waiting", stats::Unit::kNanoseconds), stats::reals("Waiting", stats::Unit::kPercent),
                      stats::integers("To Fill", stats::Unit::kNanoseconds), stats::integers("Sends and Receives"), stats::integers("Program"),
                      stats::texts("Rank")});
  const auto share_of = [&](const StageRank& rank) { return percent_of(rank.waited, work.span(rank.rank->gpu, rank.rank->extent)); };
  const auto waits = [&](const StageRank& rank) {
    return rank.stage == 0 || share_of(rank) >= arguments.real("share");
  };  // the first stage of a pipeline that only goes forward waits for no other
  for (const RanksOfProgram& program : work.programs()) {
    std::vector<StageRank> ranks;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::size_t number : program.ranks) {
      const RankWork& rank = work.of_ranks()[number];
      const auto of_process = steps.find(rank.process);
      if (of_process == steps.end() || !sends_and_receives(rank)) continue;
      least = std::min(least, of_process->second.size());
      ranks.push_back(stage_of(context, tracks, communicates, rank, of_process->second));
    }
    if (ranks.size() < 2 || least < kLeastSteps) continue;
    const std::size_t stages = order_by_stage(ranks, least);
    if (stages < 2 || !std::all_of(ranks.begin(), ranks.end(), waits)) continue;
    for (const StageRank& rank : ranks) {
      std::uint64_t transfers = 0;
      for (const StageStep& step : rank.steps) transfers += step.transfers;
      table.add_row(static_cast<std::int64_t>(rank.stage), rank.waited, share_of(rank), rank.filled, static_cast<std::int64_t>(transfers), program.number,
                    table.add_text(stage_label(trace, *rank.rank)));
    }
    answer.findings.push_back(describe(trace, work, program, ranks, stages, micro_batches(ranks, stages, least)));
  }
  if (answer.findings.empty()) return answer;
  rank(answer.findings);
  answer.message = {};
  answer.tables.push_back({"pipeline_bubbles", "Waiting of the stages of a pipeline", std::move(table)});
  return answer;
}

}  // namespace lanescope::analysis
