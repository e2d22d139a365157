// comm_overlap and imbalance: how ranks communicate, and who waits for whom.
#include <algorithm>
#include <optional>

#include "../own_rules.h"
#include "../rank_work.h"
#include "../wording.h"
#include "model/events/event_values.h"

namespace lanescope::analysis {
namespace {

// The file that a process comes from, where several were read as one trace.
std::string part_label(const Trace& trace, ProcessId process) {
  for (const TracePart& part : trace.parts())
    for (TrackId track = part.first_track; track < part.end_track; ++track)
      if (trace.tracks()[track].key.process == process) return part.label + ": ";
  return {};
}

std::string rank_label(const Trace& trace, const RankWork& rank) {
  return part_label(trace, rank.process) + process_label(trace, rank.process) + " on " + gpu_label(trace, rank.gpu);
}

TimeRange longest_exposed(const RankWork& rank) {
  TimeRange best;
  Nanoseconds most = -1;
  for (const TimeRange& range : rank.communication.ranges()) {
    const Nanoseconds exposed = range.length() - rank.compute.covered(range);
    if (exposed <= most) continue;
    most = exposed;
    best = range;
  }
  return best;
}

// The communication of the rank that communicates least. It comes last to collectives: what theirs take longer, the others wait for it.
// Of one rank alone, its own.
Nanoseconds least_communication(const std::vector<RankWork>& ranks) {
  Nanoseconds least = 0;
  for (const RankWork& rank : ranks) {
    const Nanoseconds communication = rank.communication.total();
    if (communication > 0 && (least == 0 || communication < least)) least = communication;
  }
  return least;
}

Finding describe_exposed(const Trace& trace, const RankWork& rank, Nanoseconds exposed, Nanoseconds waited) {
  const Nanoseconds communication = rank.communication.total();
  Finding finding;
  finding.rule = "comm_overlap";
  finding.title = rank_label(trace, rank) + " communicated for " + duration_text(communication) + " (" +
                  percent_text(communication, rank.extent.length()) + " of the time), and " + percent_text(exposed, communication) +
                  " of that did not hide behind computation.";
  finding.seen = "Computation " + duration_text(rank.compute.total()) + ", exposed communication " + duration_text(exposed) +
                 (waited > 0 ? ", of which up to " + duration_text(waited) + " was waiting for a rank that came later" : "") + ".";
  finding.place.range = longest_exposed(rank);
  finding.place.gpu = rank.gpu;
  finding.place.process = rank.process;
  finding.cost = exposed - waited;
  finding.advice =
      "Start communication as soon as its data is ready and let computation go on meanwhile: gradient buckets, prefetching of parameters, "
      "a stream of its own.";
  return finding;
}

Finding describe_longest(const Trace& trace, std::size_t ranks, const RankWork& least, const RankWork& most, Nanoseconds mean) {
  const Nanoseconds excess = most.compute.total() - mean;
  Finding finding;
  finding.rule = "imbalance";
  finding.title = rank_label(trace, most) + " computed for " + duration_text(most.compute.total()) + ", " + percent_text(excess, mean) +
                  " more than the ranks do on average; where they meet, the others wait for it.";
  finding.seen = counted(ranks, "rank") + "; the fastest, " + rank_label(trace, least) + ", computed for " +
                 duration_text(least.compute.total()) + ".";
  finding.place.range = most.extent;
  finding.place.gpu = most.gpu;
  finding.place.process = most.process;
  finding.cost = excess;
  finding.advice =
      "Give each rank the same work: equal shares of data, sequences of similar length, balanced pipeline stages; check that no GPU is "
      "slowed down.";
  return finding;
}

// The rank that comes last to collectives: a communication kernel begins when its rank has come and ends when all have, so the last one's
// are the shortest.
struct Latecomer {
  const RankWork* rank = nullptr;
  Nanoseconds communication = 0;  // of the others, on average
  Nanoseconds waited = 0;         // what that is longer than its own
};

std::optional<Latecomer> find_latecomer(const std::vector<RankWork>& ranks) {
  Latecomer last;
  Nanoseconds sum = 0, communicating = 0;
  for (const RankWork& rank : ranks) {
    if (rank.communication.total() == 0) continue;
    ++communicating;
    sum += rank.communication.total();
    if (!last.rank || rank.communication.total() < last.rank->communication.total()) last.rank = &rank;
  }
  if (communicating < 2) return std::nullopt;
  last.communication = (sum - last.rank->communication.total()) / (communicating - 1);
  last.waited = last.communication - last.rank->communication.total();
  return last;
}

Finding describe_latecomer(const Trace& trace, const Latecomer& last) {
  Finding finding;
  finding.rule = "imbalance";
  finding.title = rank_label(trace, *last.rank) + " came last to collectives, though it computed no longer: the others waited for it for " +
                  duration_text(last.waited) + " on average (" + percent_text(last.waited, last.rank->extent.length()) + " of the time).";
  finding.seen = "Communication kernels took " + duration_text(last.rank->communication.total()) + " on it, and " +
                 duration_text(last.communication) + " on the others.";
  finding.place.range = last.rank->extent;
  finding.place.gpu = last.rank->gpu;
  finding.place.process = last.rank->process;
  finding.cost = last.waited;
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
  const std::vector<RankWork> ranks = rank_work(trace, context.time, context.stop);
  const Nanoseconds least = least_communication(ranks);
  for (const RankWork& rank : ranks) {
    const Nanoseconds communication = rank.communication.total();
    if (communication == 0) continue;
    const Nanoseconds hidden = rank.communication.overlap(rank.compute);
    const Nanoseconds exposed = communication - hidden;
    table.add_row(std::int64_t{trace.processes()[rank.process].pid}, std::int64_t{trace.gpus()[rank.gpu].ordinal}, rank.compute.total(),
                  communication, percent_of(communication, rank.extent.length()), hidden, percent_of(hidden, communication), exposed,
                  communication - least);
    const Nanoseconds waited = std::min(communication - least, exposed);
    if (exposed > waited && percent_of(exposed - waited, rank.extent.length()) >= arguments.real("share"))
      answer.findings.push_back(describe_exposed(trace, rank, exposed, waited));
  }
  rank(answer.findings);
  if (!table.empty()) answer.tables.push_back({"comm_overlap", "Communication and computation by rank", std::move(table)});
  if (answer.findings.empty())
    answer.message = answer.tables.empty()
                         ? "No kernels of a communication library were recorded."
                         : "Communication hides behind computation, or is waiting for a rank that comes later (imbalance).";
  return answer;
}

Result<RuleAnswer> find_imbalance(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  std::vector<RankWork> ranks = rank_work(trace, context.time, context.stop);
  std::erase_if(ranks, [](const RankWork& rank) { return rank.compute.total() == 0; });
  RuleAnswer answer;
  if (ranks.size() < 2) {
    answer.message = "The trace holds one rank only.";
    return answer;
  }
  Nanoseconds sum = 0;
  for (const RankWork& rank : ranks) sum += rank.compute.total();
  const Nanoseconds mean = sum / static_cast<Nanoseconds>(ranks.size());
  stats::Table table({stats::integers("Compute", stats::Unit::kNanoseconds), stats::reals("Of Mean", stats::Unit::kPercent),
                      stats::integers("Communication", stats::Unit::kNanoseconds), stats::integers("Operations"),
                      stats::integers("First Operation", stats::Unit::kNanoseconds), stats::texts("Rank")});
  for (const RankWork& rank : ranks)
    table.add_row(rank.compute.total(), percent_of(rank.compute.total(), mean), rank.communication.total(),
                  static_cast<std::int64_t>(rank.operations), rank.extent.begin, table.add_text(rank_label(trace, rank)));
  const auto by_compute = [](const RankWork& a, const RankWork& b) { return a.compute.total() < b.compute.total(); };
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), by_compute);
  const bool computes_longer = percent_of(most->compute.total() - mean, mean) >= arguments.real("excess");
  if (computes_longer) answer.findings.push_back(describe_longest(trace, ranks.size(), *least, *most, mean));
  if (const std::optional<Latecomer> last = find_latecomer(ranks);
      last && !(computes_longer && last->rank == &*most) &&
      percent_of(last->waited, last->rank->extent.length()) >= arguments.real("waiting"))
    answer.findings.push_back(describe_latecomer(trace, *last));
  rank(answer.findings);
  if (answer.findings.empty()) answer.message = "The ranks compute for about the same time, and none keeps the others waiting.";
  answer.tables.push_back({"imbalance", "Computation by rank", std::move(table)});
  return answer;
}

}  // namespace lanescope::analysis
