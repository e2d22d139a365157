// comm_overlap and imbalance: how the ranks of each program communicate, and who waits for whom.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "../own_rules.h"
#include "../wording.h"
#include "latecomers.h"
#include "loop/loop_work.h"
#include "model/analysis/idle/idle.h"
#include "model/events/event_values.h"

namespace lanescope::analysis {
namespace {

Message rank_label(const Trace& trace, const RankWork& rank) {
  const std::string file = file_of_process(trace, rank.process), process = process_label(trace, rank.process);
  return Message("{process} on {gpu}", {{"process", file.empty() ? process : file + ": " + process}, {"gpu", gpu_label(trace, rank.gpu)}});
}

// True if anything is recorded through which it would wait for others: kernels of a communication library, or its process's calls of one.
bool meets_others(const Trace& trace, const RankWork& rank) {
  if (rank.communication.total() > 0) return true;
  for (const TrackId track : trace.tracks_of(rank.process, TrackKind::kNvtxRanges))
    if (is_communication_domain(trace.domain_name(rank.process, trace.tracks()[track].key.domain))) return true;
  return false;
}

// A rank that communicates, and the part of that time in which nothing was computed.
struct Exposed {
  const RankWork* rank = nullptr;
  Nanoseconds waiting = 0;     // for ranks that came later
  Nanoseconds transfers = 0;   // the rest
  Nanoseconds in_waiting = 0;  // exposed or hidden, part of all its communication
};

Exposed exposed_of(const RankWork& rank, const RankWait& wait) {
  const Nanoseconds exposed = rank.communication.total() - rank.communication.beside();
  const Nanoseconds waiting = std::min(wait.exposed, exposed);
  return {&rank, waiting, exposed - waiting, std::min(wait.in_waiting, rank.communication.total())};
}

// How long the wanted kernels would take if each waited as little as the shortest of its name. The shortest may have waited as well, so this is an
// upper bound of the communication.
template <typename Wanted>
Nanoseconds most_communication(const RankWork& rank, Wanted wanted) {
  struct OfName {
    Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds count = 0;
  };
  std::map<NameId, OfName> names;
  for (const CommunicationKernel& kernel : *rank.communication_kernels) {
    if (!wanted(kernel)) continue;
    OfName& of_name = names[kernel.name];
    of_name.shortest = std::min(of_name.shortest, kernel.range.length());
    ++of_name.count;
  }
  Nanoseconds most = 0;
  for (const auto& [name, of_name] : names) most += of_name.count * of_name.shortest;
  return most;
}

// By how much sends and receives take longer than that: no kernel of another rank tells who waits there.
Nanoseconds waiting_for_the_other_side(const RankWork& rank) {
  const auto sends_or_receives = [](const CommunicationKernel& kernel) { return !kernel.is_collective; };
  Nanoseconds time = 0;
  for (const CommunicationKernel& kernel : *rank.communication_kernels) time += kernel.is_collective ? 0 : kernel.range.length();
  return time - most_communication(rank, sends_or_receives);
}

Message waiting_words(Nanoseconds waiting, bool is_known) {
  if (waiting == 0) return {};
  return Message(is_known ? ", of which {time} was waiting for a rank that came later" : ", of which up to {time} was waiting for a rank that came later",
                 {{"time", duration_text(waiting)}});
}

Finding describe_exposed(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, const Exposed& exposed) {
  const RankWork& rank = *exposed.rank;
  const Nanoseconds communication = rank.communication.total() - exposed.in_waiting;
  Finding finding;
  finding.rule = "comm_overlap";
  finding.title = Message("{rank} communicated for {time} ({share} of {loop}){waiting}, and for {exposed} of that nothing was computed.",
                          {{"rank", rank_label(trace, rank)},
                           {"time", duration_text(communication)},
                           {"share", percent_text(communication, work.span(rank.gpu, rank.extent))},
                           {"loop", work.text(program)},
                           {"waiting", exposed.in_waiting > 0 ? Message(" beside waiting for ranks that came later") : Message()},
                           {"exposed", duration_text(exposed.transfers)}});
  finding.seen =
      Message("Computation {compute}, exposed communication {exposed}{waiting}.", {{"compute", duration_text(rank.compute.total())},
                                                                                   {"exposed", duration_text(exposed.transfers + exposed.waiting)},
                                                                                   {"waiting", waiting_words(exposed.waiting, program.waits.are_matched)}});
  finding.cost = exposed.transfers;
  if (const Nanoseconds other_side = waiting_for_the_other_side(rank); other_side > 0) {
    finding.cost = std::max<Nanoseconds>(0, finding.cost - other_side);
    finding.seen = followed_by(finding.seen, Message("Sends and receives took {time} longer than their shortest: they may have waited for the other side.",
                                                     {{"time", duration_text(other_side)}}));
  }
  finding.place.range = rank.communication.longest_alone();
  finding.place.gpu = rank.gpu;
  finding.place.process = rank.process;
  finding.advice =
      "Start communication as soon as its data is ready and let computation go on meanwhile: gradient buckets, prefetching of parameters, "
      "a stream of its own.";
  return finding;
}

// For the only rank of its program that was recorded: its communication kernels wait for other ranks, about which nothing is known.
Finding describe_alone(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, const Exposed& exposed) {
  Finding finding = describe_exposed(trace, work, program, exposed);
  finding.seen = followed_by(finding.seen, Message("How much of it was waiting for other ranks can't be told from the recording of one."));
  finding.cost = std::min(exposed.transfers, most_communication(*exposed.rank, [](const CommunicationKernel&) { return true; }));
  finding.advice = followed_by(Message("Open the recordings of all ranks together: they tell who waits for whom."), finding.advice);
  return finding;
}

// The ranks of the process's job, and how many of them no process of the trace is; nothing if that is not known.
struct RanksOfJob {
  std::size_t all = 0;
  std::size_t not_recorded = 0;
};
std::optional<RanksOfJob> ranks_of_job(const Trace& trace, ProcessId process) {
  const JobPlace& own = trace.processes()[process].place;
  if (!own.rank || own.world_size == 0) return std::nullopt;
  std::set<std::uint32_t> recorded;
  for (const Process& other : trace.processes())
    if (other.place.rank && other.place.world_size == own.world_size && other.place.job == own.job && other.place.step == own.step)
      recorded.insert(*other.place.rank);
  return RanksOfJob{own.world_size, own.world_size - std::min<std::size_t>(recorded.size(), own.world_size)};
}

// For several ranks of a program, at least two.
Finding describe_exposed(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, std::vector<Exposed> all) {
  std::sort(all.begin(), all.end(), [](const Exposed& a, const Exposed& b) { return a.transfers > b.transfers; });
  const RankWork& most = *all.front().rank;
  Finding finding = describe_exposed(trace, work, program, all.front());
  Nanoseconds sum = 0;
  finding.cost = 0;
  for (const Exposed& one : all) {
    sum += one.transfers;
    finding.cost += std::max<Nanoseconds>(0, one.transfers - waiting_for_the_other_side(*one.rank));
  }
  finding.title = Message("{ranks} communicated while nothing was computed, for {sum} together; the longest, {rank}, for {time} ({share} of {loop}).",
                          {{"ranks", counted(all.size(), "rank")},
                           {"sum", duration_text(sum)},
                           {"rank", rank_label(trace, most)},
                           {"time", duration_text(all.front().transfers)},
                           {"share", percent_text(all.front().transfers, work.span(most.gpu, most.extent))},
                           {"loop", work.text(program)}});
  finding.seen = followed_by(finding.seen, Message("The shortest, {rank}, for {time}.",
                                                   {{"rank", rank_label(trace, *all.back().rank)}, {"time", duration_text(all.back().transfers)}}));
  if (const auto job = ranks_of_job(trace, most.process); job && job->not_recorded > 0)
    finding.seen =
        followed_by(finding.seen, Message(job->not_recorded == 1
                                              ? "{missing} of {all} ranks of the job was not recorded: what others waited for it counts as communication."
                                              : "{missing} of {all} ranks of the job were not recorded: what others waited for them counts as communication.",
                                          {{"missing", std::to_string(job->not_recorded)}, {"all", std::to_string(job->all)}}));
  return finding;
}

constexpr const char* kEqualWork =
    "Give each rank the same work: equal shares of data, sequences of similar length, balanced pipeline stages; check that no GPU is "
    "slowed down.";

constexpr const char* kHeldUp =
    "Look at what its GPU waits for (gpu_bubbles): something on its CPU holds it up that the others do not have, such as reading data, "
    "logging, saving checkpoints, or a processor that others use.";

// The ranks of a program that may wait for each other.
struct Meeting {
  const RanksOfProgram* program = nullptr;
  std::vector<std::size_t> numbers;  // their positions in the program
  std::vector<const RankWork*> ranks;
  std::vector<const RankWait*> waits;
};

Nanoseconds computed_by_all(const Meeting& meeting) {
  Nanoseconds sum = 0;
  for (const RankWork* const rank : meeting.ranks) sum += rank->compute.total();
  return sum;
}

Finding describe_longest(const Trace& trace, const LoopWork& work, const Meeting& meeting, const RankWork& least, const RankWork& most) {
  const std::size_t ranks = meeting.ranks.size();
  const Nanoseconds sum = computed_by_all(meeting);
  const Nanoseconds mean = sum / static_cast<Nanoseconds>(ranks), excess = most.compute.total() - mean;
  Finding finding;
  finding.rule = "imbalance";
  finding.title = Message("{rank} computed for {time} in {loop}, {excess} more than the ranks do on average; where they meet, the others wait for it.",
                          {{"rank", rank_label(trace, most)},
                           {"time", duration_text(most.compute.total())},
                           {"loop", work.text(*meeting.program)},
                           {"excess", percent_text(excess, mean)}});
  finding.seen = Message("{ranks}; the fastest, {fastest}, computed for {time}.",
                         {{"ranks", counted(ranks, "rank")}, {"fastest", rank_label(trace, least)}, {"time", duration_text(least.compute.total())}});
  finding.place.range = most.extent;
  finding.place.gpu = most.gpu;
  finding.place.process = most.process;
  finding.cost = static_cast<Nanoseconds>(ranks) * most.compute.total() - sum;
  finding.advice = kEqualWork;
  return finding;
}

// The cause for which the GPU of a rank was idle longest in the loop, except for communication.
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

// A rank for which others wait, and the data with which it is compared.
struct Latecomer {
  const RankWork& rank;
  const RankWait& wait;
  Nanoseconds of_each_other;    // how long each of the others, except those that are late as well, keeps the rest waiting, on average
  Nanoseconds others;           // number of other ranks that communicate
  Nanoseconds of_others;        // how long these communicate, on average
  Nanoseconds computed_longer;  // how much longer than these it computed, on average; negative if it computed less
  [[nodiscard]] Nanoseconds waited() const noexcept { return wait.caused / others; }
  // How much longer others wait for it than for the rest: ranks that are late in turn, as work varies, have no cause of delay that the others lack.
  [[nodiscard]] Nanoseconds waited_longer() const noexcept { return (wait.caused - of_each_other) / others; }
  [[nodiscard]] bool computing_explains_it() const noexcept { return 2 * computed_longer >= waited(); }
};

bool communicates(const RankWork& rank) { return rank.communication.total() > 0; }

// Requires: another of the ranks communicates.
Latecomer latecomer_of(const Meeting& meeting, std::size_t late, std::span<const std::size_t> late_as_well) {
  Nanoseconds others = 0, communication = 0, compute = 0, caused = 0, rest = 0;
  for (std::size_t i = 0; i < meeting.ranks.size(); ++i) {
    const RankWork& rank = *meeting.ranks[i];
    if (i == late || !communicates(rank)) continue;
    ++others;
    communication += rank.communication.total();
    compute += rank.compute.total();
    if (std::find(late_as_well.begin(), late_as_well.end(), i) != late_as_well.end()) continue;
    ++rest;
    caused += meeting.waits[i]->caused;
  }
  const RankWork& rank = *meeting.ranks[late];
  return {rank, *meeting.waits[late], rest > 0 ? caused / rest : 0, others, communication / others, rank.compute.total() - compute / others};
}

// True if a rank computes longer than by chance, as far as the steps tell.
bool is_no_chance(const Trace& trace, const LoopWork& work, const Meeting& meeting, std::size_t rank) {
  const TimeBySteps computing = computing_by_steps(trace, work, *meeting.program, meeting.numbers);
  if (computing.steps() == 0) return true;
  const std::vector<std::size_t> found = ranks_that_stand_out(computing);
  return std::find(found.begin(), found.end(), rank) != found.end();
}

// The ranks that keep the others waiting for much longer than the rest do, beyond chance; and the ranks that came as late as one of them to the same
// collectives.
struct Latecomers {
  std::vector<std::size_t> in_turn;  // positions in Meeting, the rank with the longest waits first
  std::vector<std::size_t> as_late;  // in addition to these
  [[nodiscard]] bool has(std::size_t rank) const {
    return std::find(in_turn.begin(), in_turn.end(), rank) != in_turn.end() || std::find(as_late.begin(), as_late.end(), rank) != as_late.end();
  }
};

Latecomers latecomers_of(const Trace& trace, const LoopWork& work, const Meeting& meeting, double waiting) {
  // Part of the longest wait for one rank that another rank did not wait. Equal ranks reach two thirds in a step, each of them in turn.
  constexpr double kAsLate = 0.75;
  Latecomers late;
  if (std::count_if(meeting.ranks.begin(), meeting.ranks.end(), [](const RankWork* one) { return communicates(*one); }) < 2) return late;
  const auto share = [&](std::size_t rank, Nanoseconds time) { return percent_of(time, work.span(meeting.ranks[rank]->gpu, meeting.ranks[rank]->extent)); };
  std::vector<std::size_t> found;
  if (meeting.program->waits.are_matched) {
    found = ranks_that_stand_out(waiting_by_steps(trace, work, *meeting.program, meeting.numbers));
  } else {
    const auto by_caused = [](const RankWait* a, const RankWait* b) { return a->caused < b->caused; };
    found = {static_cast<std::size_t>(std::max_element(meeting.waits.begin(), meeting.waits.end(), by_caused) - meeting.waits.begin())};
  }
  for (const std::size_t rank : found)
    if (meeting.waits[rank]->caused > 0 && share(rank, latecomer_of(meeting, rank, found).waited_longer()) >= waiting) late.in_turn.push_back(rank);
  for (const std::size_t rank : late.in_turn)
    for (std::size_t other = 0; other < meeting.ranks.size(); ++other) {
      const LateBeside::Share beside = meeting.program->waits.beside.of(meeting.numbers[rank], meeting.numbers[other]);
      const bool is_as_late = static_cast<double>(beside.late) >= kAsLate * static_cast<double>(beside.longest);
      if (is_as_late && beside.late > 0 && share(rank, beside.late) >= waiting && !late.has(other)) late.as_late.push_back(other);
    }
  return late;
}

Message latecomer_title(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, const Latecomer& late) {
  const std::string time = duration_text(late.waited());
  const std::vector<Message::Value> values{
      {"rank", rank_label(trace, late.rank)},
      {"time", program.waits.are_matched ? Message::verbatim(time) : Message("up to {time}", {{"time", time}})},
      {"longer", duration_text(late.computed_longer)},
      {"share", percent_text(late.waited(), work.span(late.rank.gpu, late.rank.extent))},
      {"loop", work.text(program)},
  };
  if (late.computed_longer <= 0)
    return Message("{rank} came last to collectives, though it computed no longer: the others waited for it for {time} on average ({share} of {loop}).",
                   values);
  return Message(late.computing_explains_it()
                     ? "{rank} came last to collectives, and computed for {longer} longer than the others do on average: they waited for it for {time} on "
                       "average ({share} of {loop})."
                     : "{rank} came last to collectives, and computed for no more than {longer} longer than the others do on average: they waited for it for "
                       "{time} on average ({share} of {loop}).",
                 values);
}

Finding describe_latecomer(const RuleContext& context, const LoopWork& work, const RanksOfProgram& program, const Latecomer& late) {
  const Trace& trace = context.trace;
  const RankWork& rank = late.rank;
  const RankWait& wait = late.wait;
  Finding finding;
  finding.rule = "imbalance";
  finding.title = latecomer_title(trace, work, program, late);
  finding.seen = Message("Communication kernels took {time} on it, and {others} on the others.",
                         {{"time", duration_text(rank.communication.total())}, {"others", duration_text(late.of_others)}});
  if (wait.passed_on > 0)
    finding.seen = followed_by(
        Message("Ranks that waited for it came last to further collectives by that, which is {time} of it.", {{"time", duration_text(wait.passed_on)}}),
        finding.seen);
  if (wait.last > 0)
    finding.seen = followed_by(
        Message("It came last {times}; the longest wait took {time}.", {{"times", counted(wait.last, "time")}, {"time", duration_text(wait.longest.length())}}),
        finding.seen);
  finding.place.range = wait.longest.empty() ? rank.extent : wait.longest;
  finding.place.gpu = rank.gpu;
  finding.place.process = rank.process;
  finding.cost = wait.caused;
  if (late.computing_explains_it()) {
    finding.advice = kEqualWork;
    return finding;
  }
  if (const IdleSum cause = cause_of_delay(context, work, rank); cause.total >= late.waited() / 4)
    finding.seen = followed_by(
        finding.seen, Message("Its GPU was idle for {time} {why}.", {{"time", duration_text(cause.total)}, {"why", Message(idle_cause_clause(cause.cause))}}));
  finding.advice = kHeldUp;
  return finding;
}

// For several latecomers.
Finding describe_latecomers(const Trace& trace, const LoopWork& work, const Meeting& meeting, const Latecomers& late) {
  constexpr std::size_t kMostNamed = 4;
  Finding finding;
  finding.rule = "imbalance";
  Message names;
  Nanoseconds caused = 0, all = 0;
  for (const RankWait* const wait : meeting.waits) all += wait->caused;
  std::size_t explained = 0;
  for (std::size_t i = 0; i < late.in_turn.size(); ++i) {
    const Latecomer one = latecomer_of(meeting, late.in_turn[i], late.in_turn);
    caused += one.wait.caused;
    explained += one.computing_explains_it() ? 1 : 0;
    const Message label = rank_label(trace, one.rank);
    if (i < kMostNamed) names = listed(std::move(names), Message("{rank} {share}", {{"rank", label}, {"share", percent_text(one.wait.caused, all)}}));
    if (i < kMostNamed && one.computed_longer > 0)
      finding.seen = followed_by(std::move(finding.seen),
                                 Message("{rank} came last {times}, and computed for {longer} longer than the others do on average.",
                                         {{"rank", label}, {"times", counted(one.wait.last, "time")}, {"longer", duration_text(one.computed_longer)}}));
    else if (i < kMostNamed)
      finding.seen = followed_by(std::move(finding.seen), Message("{rank} came last {times}, though it computed no longer.",
                                                                  {{"rank", label}, {"times", counted(one.wait.last, "time")}}));
  }
  const Latecomer most = latecomer_of(meeting, late.in_turn.front(), late.in_turn);
  const Nanoseconds waited = caused / most.others;
  const std::vector<Message::Value> values{
      {"ranks", counted(late.in_turn.size() + late.as_late.size(), "rank")},       {"first", rank_label(trace, most.rank)}, {"time", duration_text(waited)},
      {"share", percent_text(waited, work.span(most.rank.gpu, most.rank.extent))}, {"loop", work.text(*meeting.program)},   {"names", names}};
  finding.title =
      late.in_turn.size() == 1
          ? Message("{ranks} came last to collectives, {first} and such as came as late: the others waited for them for {time} on average ({share} of {loop}).",
                    values)
          : Message("{ranks} came last to collectives: the others waited for them for {time} on average ({share} of {loop}), by rank: {names}.", values);
  if (!late.as_late.empty()) {
    Message as_late;
    for (std::size_t i = 0; i < std::min(kMostNamed, late.as_late.size()); ++i)
      as_late = listed(std::move(as_late), rank_label(trace, *meeting.ranks[late.as_late[i]]));
    finding.seen = followed_by(
        std::move(finding.seen),
        Message("As late to the same collectives, for the most part: {names}. Nothing is won before these come earlier, too.", {{"names", as_late}}));
  }
  finding.place.range = most.wait.longest.empty() ? most.rank.extent : most.wait.longest;
  finding.place.gpu = most.rank.gpu;
  finding.place.process = most.rank.process;
  finding.cost = caused;
  finding.advice = 2 * explained >= late.in_turn.size() ? Message(kEqualWork) : Message(kHeldUp);
  return finding;
}

// The ranks of a program that communicate.
struct Communicating {
  std::size_t ranks = 0;
  std::vector<Exposed> found;  // those with enough communication beside which nothing was computed, and which is not waiting
};

std::optional<Finding> describe_communication(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, const Communicating& of_program) {
  if (of_program.found.empty()) return std::nullopt;
  if (of_program.ranks == 1) return describe_alone(trace, work, program, of_program.found.front());
  if (of_program.found.size() == 1) return describe_exposed(trace, work, program, of_program.found.front());
  return describe_exposed(trace, work, program, of_program.found);
}

Meeting meeting_of(const Trace& trace, const LoopWork& work, const RanksOfProgram& program) {
  Meeting meeting{&program, {}, {}, {}};
  for (std::size_t i = 0; i < program.ranks.size(); ++i) {
    const RankWork& rank = work.of_ranks()[program.ranks[i]];
    if (rank.compute.total() == 0 || !meets_others(trace, rank)) continue;
    meeting.numbers.push_back(i);
    meeting.ranks.push_back(&rank);
    meeting.waits.push_back(&program.waits.ranks[i]);
  }
  return meeting;
}

bool are_comparable(const Meeting& meeting) {
  std::vector<RankWork> ranks;
  for (const RankWork* const rank : meeting.ranks) ranks.push_back(*rank);
  return are_of_like_length(ranks);
}

std::vector<Finding> find_imbalance_of(const RuleContext& context, const LoopWork& work, const Meeting& meeting, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const auto& [program, numbers, ranks, waits] = meeting;
  const Nanoseconds mean = computed_by_all(meeting) / static_cast<Nanoseconds>(ranks.size());
  const auto by_compute = [](const RankWork* a, const RankWork* b) { return a->compute.total() < b->compute.total(); };
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), by_compute);
  const auto longest = static_cast<std::size_t>(most - ranks.begin());
  const Latecomers late = latecomers_of(trace, work, meeting, arguments.real("waiting"));
  const bool computes_longer =
      are_comparable(meeting) && percent_of((*most)->compute.total() - mean, mean) >= arguments.real("excess") && is_no_chance(trace, work, meeting, longest);
  const bool is_one = late.in_turn.size() + late.as_late.size() == 1;
  const bool is_said = computes_longer && is_one && late.in_turn.front() == longest && latecomer_of(meeting, longest, late.in_turn).computing_explains_it();
  std::vector<Finding> findings;
  if (computes_longer && (late.in_turn.empty() || is_one)) findings.push_back(describe_longest(trace, work, meeting, **least, **most));
  if (is_one && !is_said)
    findings.push_back(describe_latecomer(context, work, *program, latecomer_of(meeting, late.in_turn.front(), late.in_turn)));
  else if (!is_one && !late.in_turn.empty())
    findings.push_back(describe_latecomers(trace, work, meeting, late));
  return findings;
}

}  // namespace

Result<RuleAnswer> find_comm_overlap(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  stats::Table table({stats::integers("Program"), stats::integers("PID"), stats::integers("GPU"), stats::integers("Compute", stats::Unit::kNanoseconds),
                      stats::integers("Communication", stats::Unit::kNanoseconds), stats::reals("Communication", stats::Unit::kPercent),
                      stats::integers("Hidden", stats::Unit::kNanoseconds), stats::reals("Hidden", stats::Unit::kPercent),
                      stats::integers("Exposed", stats::Unit::kNanoseconds), stats::integers("Waited", stats::Unit::kNanoseconds),
                      stats::integers("Exposed Waiting", stats::Unit::kNanoseconds)});
  const LoopWork& work = loop_work(context);
  std::vector<GpuId> gpus;
  bool is_waiting = false;
  for (const RanksOfProgram& program : work.programs()) {
    Communicating of_program;
    for (std::size_t i = 0; i < program.ranks.size(); ++i) {
      const RankWork& rank = work.of_ranks()[program.ranks[i]];
      const Nanoseconds communication = rank.communication.total(), span = work.span(rank.gpu, rank.extent);
      if (communication == 0) continue;
      const Nanoseconds hidden = rank.communication.beside();
      const Exposed exposed = exposed_of(rank, program.waits.ranks[i]);
      ++of_program.ranks;
      gpus.push_back(rank.gpu);
      table.add_row(program.number, std::int64_t{trace.processes()[rank.process].pid}, std::int64_t{trace.gpus()[rank.gpu].ordinal}, rank.compute.total(),
                    communication, percent_of(communication, span), hidden, percent_of(hidden, communication), communication - hidden,
                    program.waits.ranks[i].waited, exposed.waiting);
      if (exposed.transfers > 0 && percent_of(exposed.transfers, span) >= arguments.real("share")) of_program.found.push_back(exposed);
      is_waiting |= exposed.waiting > 0 && percent_of(exposed.waiting, span) >= arguments.real("share");
    }
    if (std::optional<Finding> finding = describe_communication(trace, work, program, of_program)) answer.findings.push_back(*std::move(finding));
  }
  rank(answer.findings);
  add_files(trace, gpus, table);
  if (!table.empty()) answer.tables.push_back({"comm_overlap", "Communication and computation by rank", std::move(table)});
  if (answer.findings.empty())
    answer.message = !answer.tables.empty() && is_waiting
                         ? Message("What of communication computation does not hide is waiting for a rank that comes later (imbalance).")
                     : !answer.tables.empty()      ? Message("Communication that computation does not hide takes little of the time.")
                     : context.time == kWholeTrace ? Message("No kernels of a communication library were recorded.")
                                                   : Message("No kernel of a communication library begins in the chosen part.");
  return answer;
}

Result<RuleAnswer> find_imbalance(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  std::vector<Meeting> meetings;
  for (const RanksOfProgram& program : work.programs())
    if (Meeting meeting = meeting_of(trace, work, program); meeting.ranks.size() >= 2) meetings.push_back(std::move(meeting));
  RuleAnswer answer;
  if (meetings.empty()) {
    answer.message = context.time == kWholeTrace ? Message("The trace holds no two ranks that communicate.")
                                                 : Message("The chosen part holds no two ranks that communicate.");
    return answer;
  }
  stats::Table table({stats::integers("Compute", stats::Unit::kNanoseconds), stats::reals("Of Mean", stats::Unit::kPercent),
                      stats::integers("Communication", stats::Unit::kNanoseconds), stats::integers("Waited", stats::Unit::kNanoseconds),
                      stats::integers("Exposed Waiting", stats::Unit::kNanoseconds), stats::integers("Others Waited", stats::Unit::kNanoseconds),
                      stats::integers("Caused Waiting", stats::Unit::kNanoseconds), stats::integers("Came Last"), stats::integers("Operations"),
                      stats::integers("First Operation", stats::Unit::kNanoseconds), stats::integers("Program"), stats::texts("Rank")});
  bool are_alike = true;
  for (const Meeting& meeting : meetings) {
    const auto& [program, numbers, ranks, waits] = meeting;
    const Nanoseconds mean = computed_by_all(meeting) / static_cast<Nanoseconds>(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i)
      table.add_row(ranks[i]->compute.total(), percent_of(ranks[i]->compute.total(), mean), ranks[i]->communication.total(), waits[i]->waited,
                    waits[i]->exposed, waits[i]->others_waited, waits[i]->caused, static_cast<std::int64_t>(waits[i]->last),
                    static_cast<std::int64_t>(ranks[i]->operations), ranks[i]->first, program->number, table.add_text(rank_label(trace, *ranks[i])));
    are_alike &= are_comparable(meeting);
    for (Finding& finding : find_imbalance_of(context, work, meeting, arguments)) answer.findings.push_back(std::move(finding));
  }
  rank(answer.findings);
  if (answer.findings.empty() && !are_alike)
    answer.message =
        "The ranks were recorded for times of unlike length, so that what they did can't be compared. Record them together, or choose a time in "
        "which all were recorded.";
  else if (answer.findings.empty())
    answer.message = "The ranks compute for about the same time, and none keeps the others waiting for much longer than the rest do.";
  answer.tables.push_back({"imbalance", "Computation by rank", std::move(table)});
  return answer;
}

}  // namespace lanescope::analysis
