// comm_overlap and imbalance: how ranks communicate, and who waits for whom.
#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "../collectives.h"
#include "../loop_work.h"
#include "../own_rules.h"
#include "../wording.h"
#include "model/analysis/idle.h"
#include "model/events/event_values.h"

namespace lanescope::analysis {
namespace {

Message rank_label(const Trace& trace, const RankWork& rank) {
  const std::string file = file_of_process(trace, rank.process), process = process_label(trace, rank.process);
  return Message("{process} on {gpu}", {{"process", file.empty() ? process : file + ": " + process}, {"gpu", gpu_label(trace, rank.gpu)}});
}

// Whether it is one of the loop, or of the trace where no loop is known.
bool steps(const LoopWork& work, const RankWork& rank) { return !work.loop().known() || work.loop().of(rank.process); }

// Whether anything is recorded by which it would wait for others: kernels of a communication library, or its process's calls of one.
bool meets_others(const Trace& trace, const RankWork& rank) {
  if (rank.communication.total() > 0) return true;
  for (const TrackId track : trace.tracks_of(rank.process, TrackKind::kNvtxRanges))
    if (is_communication_domain(trace.domain_name(rank.process, trace.tracks()[track].key.domain))) return true;
  return false;
}

// Those that also compute, where only such are wanted.
enum class Wanted : std::uint8_t { kAll, kComputing };
std::vector<RankWork> ranks_that_step(const LoopWork& work, Wanted wanted) {
  std::vector<RankWork> ranks;
  for (const RankWork& rank : work.of_ranks())
    if (steps(work, rank) && (wanted == Wanted::kAll || rank.compute.total() > 0)) ranks.push_back(rank);
  return ranks;
}

// How long ranks waited for others in their communication kernels: in collectives that were matched, and where most could not be (ranks
// that were not all recorded, or not at one time), what they communicate longer than the one that communicates least.
std::vector<RankWait> waits_of(std::span<const RankWork> ranks) {
  std::uint64_t kernels = 0, matched = 0;
  for (const RankWork& rank : ranks) kernels += rank.communication_operations;
  std::vector<RankWait> waits = match_collectives(ranks);
  const RankWork* least = nullptr;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    matched += waits[i].matched;
    const Nanoseconds communication = ranks[i].communication.total();
    if (communication > 0 && (least == nullptr || communication < least->communication.total())) least = &ranks[i];
  }
  if (least == nullptr || 2 * matched >= kernels) return waits;
  std::vector<RankWait> totals(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].communication.total() == 0) continue;
    totals[i].waited = ranks[i].communication.total() - least->communication.total();
    totals[static_cast<std::size_t>(least - ranks.data())].caused += totals[i].waited;
  }
  return totals;
}

Finding describe_exposed(const Trace& trace, const LoopWork& work, const RankWork& rank, Nanoseconds exposed, Nanoseconds waited) {
  const Nanoseconds communication = rank.communication.total();
  Finding finding;
  finding.rule = "comm_overlap";
  finding.title = Message("{rank} communicated for {time} ({share} of {loop}){waiting}, and for {exposed} of that nothing was computed.",
                          {{"rank", rank_label(trace, rank)},
                           {"time", duration_text(communication - waited)},
                           {"share", percent_text(communication - waited, work.span(rank.gpu, rank.extent))},
                           {"loop", work.text()},
                           {"waiting", waited > 0 ? Message(" beside waiting for ranks that came later") : Message()},
                           {"exposed", duration_text(exposed - waited)}});
  finding.seen = Message(
      "Computation {compute}, exposed communication {exposed}{waiting}.",
      {{"compute", duration_text(rank.compute.total())},
       {"exposed", duration_text(exposed)},
       {"waiting", waited > 0 ? Message(", of which up to {time} was waiting for a rank that came later", {{"time", duration_text(waited)}}) : Message()}});
  finding.place.range = rank.communication.longest_alone();
  finding.place.gpu = rank.gpu;
  finding.place.process = rank.process;
  finding.cost = exposed - waited;
  finding.advice =
      "Start communication as soon as its data is ready and let computation go on meanwhile: gradient buckets, prefetching of parameters, "
      "a stream of its own.";
  return finding;
}

// What all kernels would take if each waited as little as the shortest of its name, which may wait as well: no more than that is communication.
Nanoseconds most_communication(const RankWork& rank) {
  struct OfName {
    Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds count = 0;
  };
  std::map<NameId, OfName> names;
  for (const CommunicationKernel& kernel : *rank.communication_kernels) {
    OfName& of_name = names[kernel.name];
    of_name.shortest = std::min(of_name.shortest, kernel.range.length());
    ++of_name.count;
  }
  Nanoseconds most = 0;
  for (const auto& [name, of_name] : names) most += of_name.count * of_name.shortest;
  return most;
}

// Of the only rank that was recorded: its kernels of communication wait for others, of which nothing is known.
Finding describe_alone(const Trace& trace, const LoopWork& work, const RankWork& rank, Nanoseconds exposed) {
  Finding finding = describe_exposed(trace, work, rank, exposed, 0);
  finding.seen = followed_by(finding.seen, Message("How much of it was waiting for other ranks can't be told from the recording of one."));
  finding.cost = std::min(exposed, most_communication(rank));
  finding.advice = followed_by(Message("Open the recordings of all ranks together: they tell who waits for whom."), finding.advice);
  return finding;
}

Finding describe_longest(const Trace& trace, const LoopWork& work, std::size_t ranks, const RankWork& least, const RankWork& most, Nanoseconds mean) {
  const Nanoseconds excess = most.compute.total() - mean;
  Finding finding;
  finding.rule = "imbalance";
  finding.title = Message(
      "{rank} computed for {time} in {loop}, {excess} more than the ranks do on average; where they meet, the others wait for it.",
      {{"rank", rank_label(trace, most)}, {"time", duration_text(most.compute.total())}, {"loop", work.text()}, {"excess", percent_text(excess, mean)}});
  finding.seen = Message("{ranks}; the fastest, {fastest}, computed for {time}.",
                         {{"ranks", counted(ranks, "rank")}, {"fastest", rank_label(trace, least)}, {"time", duration_text(least.compute.total())}});
  finding.place.range = most.extent;
  finding.place.gpu = most.gpu;
  finding.place.process = most.process;
  finding.cost = excess;
  finding.advice =
      "Give each rank the same work: equal shares of data, sequences of similar length, balanced pipeline stages; check that no GPU is "
      "slowed down.";
  return finding;
}

// What the GPU of a rank was idle for in the loop, but for communication: the cause with most of it.
IdleSum cause_of_delay(const RuleContext& context, const LoopWork& work, const RankWork& rank) {
  std::array<Nanoseconds, kIdleCauses> causes{};
  visit_idle(context, 1, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    if (gap.gpu != rank.gpu || context.trace.track_of(gap.next.lane).key.process != rank.process) return;
    for (const IdlePart& part : parts)
      if (part.cause != IdleCause::kCommunication && work.has(gap, part)) causes[static_cast<std::size_t>(part.cause)] += part.range.length();
  });
  const auto most = std::max_element(causes.begin(), causes.end());
  return {static_cast<IdleCause>(most - causes.begin()), {}, 0, *most, 0};
}

// The rank that others wait for most.
Finding describe_latecomer(const RuleContext& context, const LoopWork& work, std::span<const RankWork> ranks, std::span<const RankWait> waits,
                           std::size_t late) {
  const Trace& trace = context.trace;
  const RankWork& rank = ranks[late];
  const RankWait& wait = waits[late];
  const auto others =
      static_cast<Nanoseconds>(std::count_if(ranks.begin(), ranks.end(), [](const RankWork& one) { return one.communication.total() > 0; }) - 1);
  Finding finding;
  finding.rule = "imbalance";
  finding.title = Message("{rank} came last to collectives, though it computed no longer: the others waited for it for {time} on average ({share} of {loop}).",
                          {{"rank", rank_label(trace, rank)},
                           {"time", duration_text(wait.caused / others)},
                           {"share", percent_text(wait.caused / others, work.span(rank.gpu, rank.extent))},
                           {"loop", work.text()}});
  Nanoseconds of_others = 0;
  for (const RankWork& other : ranks) of_others += &other == &rank ? 0 : other.communication.total();
  finding.seen = Message("Communication kernels took {time} on it, and {others} on the others.",
                         {{"time", duration_text(rank.communication.total())}, {"others", duration_text(of_others / others)}});
  if (wait.last > 0)
    finding.seen = followed_by(
        Message("It came last {times}; the longest wait took {time}.", {{"times", counted(wait.last, "time")}, {"time", duration_text(wait.longest.length())}}),
        finding.seen);
  if (const IdleSum cause = cause_of_delay(context, work, rank); cause.total >= wait.caused / others / 4)
    finding.seen = followed_by(
        finding.seen, Message("Its GPU was idle for {time} {why}.", {{"time", duration_text(cause.total)}, {"why", Message(idle_cause_clause(cause.cause))}}));
  finding.place.range = wait.longest.empty() ? rank.extent : wait.longest;
  finding.place.gpu = rank.gpu;
  finding.place.process = rank.process;
  finding.cost = wait.caused;
  finding.advice =
      "Look at what its GPU waits for (gpu_bubbles): something on its CPU holds it up that the others do not have, such as reading data, "
      "logging, saving checkpoints, or a processor that others use.";
  return finding;
}

}  // namespace

Result<RuleAnswer> find_comm_overlap(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  stats::Table table({stats::integers("PID"), stats::integers("GPU"), stats::integers("Compute", stats::Unit::kNanoseconds),
                      stats::integers("Communication", stats::Unit::kNanoseconds), stats::reals("Communication", stats::Unit::kPercent),
                      stats::integers("Hidden", stats::Unit::kNanoseconds), stats::reals("Hidden", stats::Unit::kPercent),
                      stats::integers("Exposed", stats::Unit::kNanoseconds), stats::integers("Waited", stats::Unit::kNanoseconds)});
  const LoopWork& work = loop_work(context);
  const std::vector<RankWork> ranks = ranks_that_step(work, Wanted::kAll);
  const std::vector<RankWait> waits = waits_of(ranks);
  const bool is_alone = std::count_if(ranks.begin(), ranks.end(), [](const RankWork& one) { return one.communication.total() > 0; }) == 1;
  std::vector<GpuId> gpus;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankWork& rank = ranks[i];
    const Nanoseconds communication = rank.communication.total();
    if (communication == 0) continue;
    const Nanoseconds hidden = rank.communication.beside();
    const Nanoseconds exposed = communication - hidden;
    const Nanoseconds waited = std::min(waits[i].waited, exposed);
    gpus.push_back(rank.gpu);
    table.add_row(std::int64_t{trace.processes()[rank.process].pid}, std::int64_t{trace.gpus()[rank.gpu].ordinal}, rank.compute.total(), communication,
                  percent_of(communication, work.span(rank.gpu, rank.extent)), hidden, percent_of(hidden, communication), exposed, waits[i].waited);
    if (exposed > waited && percent_of(exposed - waited, work.span(rank.gpu, rank.extent)) >= arguments.real("share"))
      answer.findings.push_back(is_alone ? describe_alone(trace, work, rank, exposed) : describe_exposed(trace, work, rank, exposed, waited));
  }
  rank(answer.findings);
  add_files(trace, gpus, table);
  if (!table.empty()) answer.tables.push_back({"comm_overlap", "Communication and computation by rank", std::move(table)});
  if (answer.findings.empty())
    answer.message = !answer.tables.empty()        ? Message("Communication hides behind computation, or is waiting for a rank that comes later (imbalance).")
                     : context.time == kWholeTrace ? Message("No kernels of a communication library were recorded.")
                                                   : Message("No kernel of a communication library begins in the chosen part.");
  return answer;
}

Result<RuleAnswer> find_imbalance(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  std::vector<RankWork> ranks = ranks_that_step(work, Wanted::kComputing);
  std::erase_if(ranks, [&trace](const RankWork& rank) { return !meets_others(trace, rank); });
  RuleAnswer answer;
  if (ranks.size() < 2) {
    answer.message = context.time == kWholeTrace ? Message("The trace holds no two ranks that communicate.")
                                                 : Message("The chosen part holds no two ranks that communicate.");
    return answer;
  }
  Nanoseconds sum = 0;
  for (const RankWork& rank : ranks) sum += rank.compute.total();
  const Nanoseconds mean = sum / static_cast<Nanoseconds>(ranks.size());
  stats::Table table({stats::integers("Compute", stats::Unit::kNanoseconds), stats::reals("Of Mean", stats::Unit::kPercent),
                      stats::integers("Communication", stats::Unit::kNanoseconds), stats::integers("Waited", stats::Unit::kNanoseconds),
                      stats::integers("Others Waited", stats::Unit::kNanoseconds), stats::integers("Came Last"), stats::integers("Operations"),
                      stats::integers("First Operation", stats::Unit::kNanoseconds), stats::texts("Rank")});
  const std::vector<RankWait> waits = waits_of(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    table.add_row(ranks[i].compute.total(), percent_of(ranks[i].compute.total(), mean), ranks[i].communication.total(), waits[i].waited, waits[i].caused,
                  static_cast<std::int64_t>(waits[i].last), static_cast<std::int64_t>(ranks[i].operations), ranks[i].first,
                  table.add_text(rank_label(trace, ranks[i])));
  const auto by_compute = [](const RankWork& a, const RankWork& b) { return a.compute.total() < b.compute.total(); };
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), by_compute);
  const bool computes_longer = percent_of(most->compute.total() - mean, mean) >= arguments.real("excess");
  if (computes_longer) answer.findings.push_back(describe_longest(trace, work, ranks.size(), *least, *most, mean));
  const auto late = static_cast<std::size_t>(
      std::max_element(waits.begin(), waits.end(), [](const RankWait& a, const RankWait& b) { return a.caused < b.caused; }) - waits.begin());
  const auto communicating = std::count_if(ranks.begin(), ranks.end(), [](const RankWork& one) { return one.communication.total() > 0; });
  if (communicating > 1 && waits[late].caused > 0 && !(computes_longer && &ranks[late] == &*most) &&
      percent_of(waits[late].caused / (communicating - 1), work.span(ranks[late].gpu, ranks[late].extent)) >= arguments.real("waiting"))
    answer.findings.push_back(describe_latecomer(context, work, ranks, waits, late));
  rank(answer.findings);
  if (answer.findings.empty()) answer.message = "The ranks compute for about the same time, and none keeps the others waiting.";
  answer.tables.push_back({"imbalance", "Computation by rank", std::move(table)});
  return answer;
}

}  // namespace lanescope::analysis
