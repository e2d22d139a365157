// gpu_bubbles: every gap of a GPU, and its cause.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idle_groups.h"
#include "loop/loop_work.h"
#include "meanwhile.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/events/event_values.h"
#include "model/trace/combining/parts.h"
#include "model/trace/text/percent.h"
#include "own_rules.h"
#include "sampled_code.h"
#include "tables.h"
#include "threads/thread_tracks.h"
#include "wording.h"

namespace lanescope::analysis {
namespace bubbles {
namespace {

// The innermost ranges that hold at least half of a cause's time; 0 if only the loop's ranges do.
FamilyId dominant_range(const CauseInLoop& cause, const Loop& loop) {
  FamilyId dominant = 0;
  CauseInLoop::Within best;
  for (const auto& [family, within] : cause.within) {
    if (loop.marks(family) || within.time < cause.all.total - cause.all.total / 2) continue;
    const bool inside = within.time < best.time || (within.time == best.time && within.depth > best.depth);
    if (dominant != 0 && !inside) continue;
    dominant = family;
    best = within;
  }
  return dominant;
}

// The call in which at least half of a cause's time was spent; 0 if there is none.
NameId dominant_call(const CauseInLoop& cause) {
  for (const auto& [call, time] : cause.calls)
    if (time >= cause.all.total - cause.all.total / 2) return call;
  return 0;
}

std::string_view call_text(const Trace& trace, NameId call) { return call == 0 ? std::string_view() : api_display_name(trace.name(call)); }

// "mostly in NVTX range "train" (cudaStreamSynchronize)"
Message where_mostly(const Trace& trace, std::string_view range, std::string_view call) {
  if (range.empty()) return call.empty() ? Message() : Message(", mostly in {place}", {{"place", call}});
  if (call.empty()) return Message(", mostly in {place}", {{"place", range_text(trace, range)}});
  return Message(", mostly in {range} ({call})", {{"range", range_text(trace, range)}, {"call", call}});
}

// "By range: 38 % backward, 31 % optimizer": the parts of the loop in which a cause's time lies, if there are several.
Message phases_text(const Families& families, const CauseInLoop& cause) {
  constexpr std::size_t kNamed = 4;
  constexpr Nanoseconds kLeastPart = 20;  // a twentieth
  std::vector<std::pair<Nanoseconds, FamilyId>> phases;
  for (const auto& [family, time] : cause.phases)
    if (family != 0 && time >= cause.all.total / kLeastPart) phases.emplace_back(time, family);
  std::sort(phases.begin(), phases.end(), std::greater<>());
  if (phases.size() < 2) return {};
  Message shares;
  for (std::size_t i = 0; i < std::min(kNamed, phases.size()); ++i)
    shares = listed(shares, Message::verbatim(percent_text(phases[i].first, cause.all.total) + " " + families.text(phases[i].second)));
  return Message(" By range: {shares}.", {{"shares", std::move(shares)}});
}

// What another thread did while the launching thread was blocked for this cause; empty if none ran for most of the time.
std::optional<BusyThread> busy_meanwhile(const Trace& trace, const CauseInLoop& cause) {
  std::optional<BusyThread> busy = busiest_meanwhile(trace, samples::ThreadSamples(trace), cause.still.chosen());
  if (busy && (busy->share < kMost || waits_by_running(trace, busy->samples))) busy.reset();
  return busy;
}

Message meanwhile_text(const Trace& trace, const BusyThread& busy) {
  const Message sampled = mostly_sampled(trace, busy.samples);
  return Message(" Meanwhile thread {thread} ran for {share} of it{sampled}.",
                 {{"thread", thread_label(trace, busy.thread)},
                  {"share", format_percent(100 * busy.share, 0)},
                  {"sampled", sampled.empty() ? Message() : Message(": {functions}", {{"functions", sampled}})}});
}

// Who woke the launching thread while it was blocked for this cause; empty if nobody is known to have done so for most of the time.
Message waker_text(const Trace& trace, const CauseInLoop& cause) {
  const std::optional<WakingThread> waking = most_often_woken_by(trace, cause.still.chosen());
  if (!waking || waking->share < kMost) return {};
  return Message(" Thread {thread} woke the launching thread at the end of {share} of it.",
                 {{"thread", waking->thread == kNone ? '[' + std::to_string(waking->tid) + ']' : thread_label(trace, waking->thread)},
                  {"share", format_percent(100 * waking->share, 0)}});
}

// Advice for a blocked thread, if the thread that ran meanwhile tells more than the cause.
Message advice_for_blocked(const Trace& trace, const BusyThread& busy, const Message& advice) {
  if (!runs_python(trace, busy.samples))
    return followed_by(advice, "Look at what the other thread does: the launching one may wait for a lock that it holds, or for what it makes.");
  return "One thread of a process runs Python at a time, and this one goes on running it: the launching thread may wait for Python's lock (GIL), or for what "
         "this thread makes. Move its work to another process (multiprocessing; a DataLoader with workers), or into code that gives the lock back (NumPy, "
         "PyTorch). -t cuda,nvtx,python-gil shows who holds it.";
}

Message was_text(const std::string& gpu) { return Message("{gpu} was", {{"gpu", gpu}}); }

// "GPU 0 was"; the summary has the GPU's full name.
Message gpus_text(const Trace& trace, const IdleGroups& collected) {
  if (collected.gpus.size() == 1) return was_text(GpuTexts(trace).plain(collected.gpus.front().gpu));
  std::vector<GpuId> gpus;
  for (const GpuIdle& gpu : collected.gpus) gpus.push_back(gpu.gpu);
  const std::size_t distinct = distinct_gpus(trace, gpus);
  if (distinct == 1) return Message("1 GPU was, in {recordings},", {{"recordings", counted(collected.gpus.size(), "recording")}});
  return Message("{gpus} were together", {{"gpus", counted(distinct, "GPU")}});
}

// Whose idle time a finding is about: that of one GPU if it has nearly all, otherwise that of all GPUs together.
struct Subject {
  Message text;             // "GPU 1 was"
  const GapsOfCause& gaps;  // its gaps
  Nanoseconds span = 0;     // the time of which they are a share
  Message share;            // " 80 % of it on GPU 1." if one of several GPUs has most of it, or the time of the others
};

Subject subject_of(const Trace& trace, const IdleGroups& collected, const CauseInLoop& cause) {
  const auto most = std::max_element(cause.gpus.begin(), cause.gpus.end(), [](const auto& a, const auto& b) { return a.second.total < b.second.total; });
  const auto& [gpu, own] = *most;
  const std::string name = GpuTexts(trace).plain(gpu);
  const Nanoseconds total = cause.all.total;
  if (own.total >= total - total / 20) {
    Subject one{was_text(name), own, collected.spans.at(gpu), {}};
    if (own.total < total) one.share = Message(" The others: {time}.", {{"time", duration_text(total - own.total)}});
    return one;
  }
  Subject together{gpus_text(trace, collected), cause.all, collected.span, {}};
  const auto even = total / static_cast<Nanoseconds>(collected.gpus.size());
  if (own.total >= even + even / 2) together.share = Message(" {share} of it on {gpu}.", {{"share", percent_text(own.total, total)}, {"gpu", name}});
  return together;
}

// The finding's place: the whole gap, as timeline and Bubbles show it. The finding says its length.
void set_place(const Trace& trace, const IdleGap& gap, Finding& finding) {
  finding.place.range = gap.range;
  finding.place.event = gap.next;
  finding.place.gpu = gap.gpu;
  finding.place.process = trace.track_of(gap.next.lane).key.process;
  if (gap.launch.valid()) finding.place.thread = trace.track_of(gap.launch.lane).key.thread;
}

// "while the launching thread ran CPU code between launches"
Message why_text(const Trace& trace, const IdleGroups& collected, const IdleSum& sum) {
  const Message why(idle_cause_clause(sum.cause));
  if (sum.is_behind_waits()) return Message("{why}, after a wait for the GPU ({call})", {{"why", why}, {"call", call_text(trace, collected.waiting_call)}});
  return sum.is_between_launches() ? Message("{why} between launches", {{"why", why}}) : why;
}

// " 14.2 ms of it lie behind waits for the GPU (cudaStreamSynchronize): without them the CPU would have been ahead."; empty if it is little.
Message waits_text(const Trace& trace, const IdleGroups& collected, const IdleSum& sum) {
  if (sum.behind_waits < sum.total / 5 || sum.behind_waits == 0) return {};
  return Message(" {time} of it lie behind waits for the GPU ({call}): without them the CPU would have been ahead.",
                 {{"time", duration_text(sum.behind_waits)}, {"call", call_text(trace, collected.waiting_call)}});
}

// Iterations behind those that warm up; idle time is known of those alone in which no counters were read.
struct CountedIterations {
  std::size_t all = 0;
  std::size_t counting = 0;
  [[nodiscard]] bool are_all() const noexcept { return counting == all; }
};

CountedIterations counted_iterations(const Trace& trace, const LoopWork& work) {
  std::size_t all = 0;
  for (const IterationSeries& series : work.iterations()) {
    if (work.disturbed(series.process).empty()) return {};  // another program's idle time counts whole
    const std::size_t iterations = iteration_times(trace, series).size();
    all += iterations - std::min(iterations, series.warm_up);
  }
  const std::size_t disturbed = work.disturbed_iterations();
  return all <= disturbed ? CountedIterations{} : CountedIterations{all, all - disturbed};
}

// "the loop "step *"", or the part of it of which idle time is known.
Message counting_loop_text(const Families& families, const Loop& loop, const CountedIterations& iterations) {
  const Message whole = loop_time_text(families, loop);
  if (iterations.are_all()) return whole;
  return Message("{loop} in the {counting} of its {all} iterations that count",
                 {{"loop", whole}, {"counting", std::to_string(iterations.counting)}, {"all", std::to_string(iterations.all)}});
}

// The finding about the cause whose largest group is given.
Finding describe_cause(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, const Group& group,
                       const CountedIterations& iterations) {
  const CauseInLoop& cause = collected.recurring[static_cast<std::size_t>(group.cause)];
  Finding finding;
  finding.rule = "gpu_bubbles";
  finding.key = idle_cause_key(group.cause);
  const Subject subject = subject_of(trace, collected, cause);
  const GapsOfCause& own = subject.gaps;
  // behind_waits is known for all GPUs together: the same share is assumed for one of them.
  const Nanoseconds behind_waits =
      cause.all.total == 0
          ? 0
          : static_cast<Nanoseconds>(static_cast<double>(cause.behind_waits) * static_cast<double>(own.total) / static_cast<double>(cause.all.total));
  IdleSum sum{group.cause, call_text(trace, dominant_call(cause)), own.gaps, own.total, own.in_short_gaps, behind_waits};
  sum.has_known_code = !often_sampled_function(trace, cause.samples).empty();
  // What runs in one of several recordings says nothing of the others.
  const Message unsampled = cause.samples.empty() ? Message() : unsampled_text(trace, cause.ran);
  const Message sampled = unsampled.empty() ? mostly_sampled(trace, cause.samples) : Message();
  const Message waits = waits_text(trace, collected, sum);
  const std::optional<BusyThread> busy = busy_meanwhile(trace, cause);
  finding.title = Message("{who} idle for {time} ({share} of {loop}) {why}{where}{sampled}.",
                          {{"who", subject.text},
                           {"time", duration_text(own.total)},
                           {"share", percent_text(own.total, subject.span)},
                           {"loop", counting_loop_text(families, loop, iterations)},
                           {"why", why_text(trace, collected, sum)},
                           {"where", where_mostly(trace, families.text(dominant_range(cause, loop)), sum.call)},
                           {"sampled", sampled.empty() ? Message() : Message(": {functions}", {{"functions", sampled}})}});
  const auto gaps = static_cast<Nanoseconds>(std::max<std::uint64_t>(1, own.gaps));
  const std::string gap_length = duration_text(own.longest_gap.range.length());
  const Message longest_gap = own.reading == 0 ? Message::verbatim(gap_length)
                                               : Message("{gap}, of which {reading} went into reading the counters of kernels",
                                                         {{"gap", gap_length}, {"reading", duration_text(own.reading)}});
  finding.seen =
      Message("In {gaps}{each}.{share}{phases}{samples}{waits}{meanwhile}{waker}",
              {{"gaps", counted(own.gaps, "gap")},
               {"each", gaps > 1 ? Message(", {average} each on average, at most {most} in a gap of {gap}",
                                           {{"average", duration_text(own.total / gaps)}, {"most", duration_text(own.longest)}, {"gap", longest_gap}})
                                 : Message(" of {gap}", {{"gap", longest_gap}})},
               {"share", subject.share},
               {"phases", phases_text(families, cause)},
               {"samples", samples_text(trace, cause.samples)},
               {"waits", waits},
               {"meanwhile", busy ? meanwhile_text(trace, *busy) : Message()},
               {"waker", waker_text(trace, cause)}});
  if (!unsampled.empty()) finding.seen = followed_by(finding.seen, Message("There are no samples of {files}.", {{"files", unsampled}}));
  if (!loop.known() && collected.time == kWholeTrace && own.gaps > 1 && own.longest >= own.total / 2)
    finding.seen = followed_by(
        finding.seen, Message("If a longer run does not pay the longest again, mark the program's iterations with NVTX ranges: then it counts as setup."));
  if (group.cause == IdleCause::kCpuCode && own.without_waits > 0)
    finding.seen = followed_by(
        finding.seen,
        own.without_waits == own.total
            ? Message("Neither states of threads nor calls into the C library were recorded: the launching thread may also have waited.")
            : Message("Of {time} of it neither states of threads nor calls into the C library were recorded: the launching thread may also have waited then.",
                      {{"time", duration_text(own.without_waits)}}));
  set_place(trace, own.longest_gap, finding);
  finding.cost = own.total;
  finding.advice = advice_for_code(trace, cause.samples, Message(idle_advice(sum)));
  // A call that waits for data does not wait for a lock.
  if (busy && group.cause != IdleCause::kOsQueue) finding.advice = advice_for_blocked(trace, *busy, finding.advice);
  return finding;
}

// The finding about all idle time outside of the loop, whose largest group is given.
Finding describe_setup(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, const Group& group) {
  Finding finding;
  finding.rule = "gpu_bubbles";
  finding.key = "setup";
  finding.title =
      Message("{who} idle for {time} {when} (setup and warm-up, paid once), mostly {why}.",
              {{"who", gpus_text(trace, collected)},
               {"time", duration_text(collected.once.total)},
               {"when", loop.family() == 0 && !loop.is_of_several_programs() ? Message("before its work began to repeat")
                                                                             : Message("before and after {loop}", {{"loop", loop_time_text(families, loop)}})},
               {"why", Message(idle_cause_clause(group.cause))}});
  finding.seen =
      Message("Its largest share, {time} in {parts}, lies {where}; the longest part took {longest} of a gap of {gap}.{samples}",
              {{"time", duration_text(group.total)},
               {"parts", counted(group.parts, "part")},
               {"where", group.family == 0 ? Message("outside of ranges") : Message("in {range}", {{"range", range_text(trace, families.text(group.family))}})},
               {"longest", duration_text(group.longest)},
               {"gap", duration_text(group.longest_gap.range.length())},
               {"samples", samples_text(trace, group.samples)}});
  if (const Message unsampled = group.samples.empty() ? Message() : unsampled_text(trace, group.ran); !unsampled.empty())
    finding.seen = followed_by(finding.seen, Message("There are no samples of {files}.", {{"files", unsampled}}));
  set_place(trace, group.longest_gap, finding);
  finding.cost = collected.once.total;
  finding.advice = advice_for_code(trace, group.samples, Message(idle_advice({group.cause, call_text(trace, group.call), group.parts, group.total, 0})));
  finding.recurrence = Recurrence::kOnce;
  return finding;
}

// A finding for each cause that takes `least` percent of the loop, and one for everything outside of the loop, if that takes as much of all.
std::vector<Finding> describe_causes(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, double least,
                                     const CountedIterations& iterations) {
  Nanoseconds whole = 0;
  for (const GpuIdle& gpu : collected.gpus) whole += gpu.extent.length();
  std::vector<Finding> findings;
  std::array<bool, kIdleCauses> done{};
  bool setup_done = percent_of(collected.once.total, whole) < least;
  for (const Group& group : collected.groups) {  // the first group of each cause is its largest
    if (group.is_reading) continue;
    if (group.recurrence == Recurrence::kOnce) {
      if (!std::exchange(setup_done, true)) findings.push_back(describe_setup(trace, families, loop, collected, group));
      continue;
    }
    const auto cause = static_cast<std::size_t>(group.cause);
    if (std::exchange(done[cause], true) || percent_of(collected.recurring[cause].all.total, collected.span) < least) continue;
    findings.push_back(describe_cause(trace, families, loop, collected, group, iterations));
  }
  rank(findings);
  return findings;
}

// Costs of kernels are those of all iterations. Idle time is known of those alone in which no counters were read: its costs would be ranked too low among them.
void cost_in_all_iterations(const CountedIterations& iterations, std::vector<Finding>& findings) {
  if (iterations.are_all()) return;
  for (Finding& finding : findings) {
    if (finding.recurrence == Recurrence::kOnce) continue;
    finding.cost = static_cast<Nanoseconds>(static_cast<double>(finding.cost) * static_cast<double>(iterations.all) / static_cast<double>(iterations.counting));
    finding.cost_iterations = iterations.all;
    finding.seen = followed_by(finding.seen, Message("In all {iterations}, of which {counting} count here, that is about {time}.",
                                                     {{"iterations", counted(iterations.all, "iteration")},
                                                      {"counting", std::to_string(iterations.counting)},
                                                      {"time", duration_text(finding.cost)}}));
  }
  rank(findings);
}

Message summary_of(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, Nanoseconds gap) {
  const Nanoseconds idle = collected.recurring_idle();
  const Message who = collected.gpus.size() == 1 ? was_text(gpu_label(trace, collected.gpus.front().gpu)) : gpus_text(trace, collected);
  const bool worth_saying = percent_of(collected.short_idle, collected.span) >= 1;
  const std::string in_short = duration_text(collected.short_idle) + " (" + percent_text(collected.short_idle, collected.span) + ")";
  Message loop_part;
  if (loop.known()) loop_part = Message(" in {loop}", {{"loop", loop_time_text(families, loop)}});
  Message iterations;
  if (loop.iterations() > 0) iterations = Message(", {iterations}", {{"iterations", counted(loop.iterations(), "iteration")}});
  if (loop.iterations() > 0 && loop.processes() > 1 && !loop.is_of_several_programs())
    iterations = loop.runs() == 1 ? Message(", {iterations} of {ranks} together",
                                            {{"iterations", counted(loop.iterations(), "iteration")}, {"ranks", counted(loop.processes(), "rank")}})
                                  : Message(", {iterations} of {runs}, one after the other",
                                            {{"iterations", counted(loop.iterations(), "iteration")}, {"runs", counted(loop.runs(), "run")}});
  if (idle == 0)
    return Message("{who} never idle in {span}{loop}{iterations}, but for gaps shorter than {gap}{shorter}.",
                   {{"who", who},
                    {"span", duration_text(collected.span)},
                    {"loop", loop_part},
                    {"iterations", iterations},
                    {"gap", duration_text(gap)},
                    {"shorter", worth_saying ? Message(", which add up to {time}", {{"time", in_short}}) : Message()}});
  return Message("{who} idle for {idle} of {span} ({share}){loop}{iterations}, in gaps of {gap} or longer{shorter}.",
                 {{"who", who},
                  {"idle", duration_text(idle)},
                  {"span", duration_text(collected.span)},
                  {"share", percent_text(idle, collected.span)},
                  {"loop", loop_part},
                  {"iterations", iterations},
                  {"gap", duration_text(gap)},
                  {"shorter", worth_saying ? Message("; shorter ones add {time}", {{"time", in_short}}) : Message()}});
}

}  // namespace
}  // namespace bubbles

Result<RuleAnswer> find_gpu_bubbles(const RuleContext& context, const RuleArguments& arguments) {
  using namespace bubbles;
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  Families families = work.families();
  const Loop& loop = work.loop();
  const Nanoseconds gap = std::max<Nanoseconds>(1, arguments.duration("gap"));
  RuleAnswer answer;
  if (!has_known_times(trace.provenance())) {
    answer.message = "The file does not say when its kernels ran, so nothing is known about idle time.";
    return answer;
  }
  const IdleGroups collected = group_idle(context, families, work, gap);
  if (collected.gpus.empty()) {
    answer.message = context.time == kWholeTrace ? Message("The trace holds no GPU work.") : Message("The chosen part holds no GPU work.");
    return answer;
  }
  answer.summary = summary_of(trace, families, loop, collected, gap);
  if (collected.reading > 0)
    answer.summary =
        followed_by(answer.summary, Message("{time} more went into reading the counters of kernels.", {{"time", duration_text(collected.reading)}}));
  if (const std::size_t disturbed = work.disturbed_iterations(); disturbed > 0)
    answer.summary =
        followed_by(answer.summary, Message(disturbed == 1 ? "{iterations} in which that was done is left out of idle time, while kernels count in all."
                                                           : "{iterations} in which that was done are left out of idle time, while kernels count in all.",
                                            {{"iterations", counted(disturbed, "iteration")}}));
  if (loop.left_out() > 0)
    answer.summary = followed_by(answer.summary, Message(loop.left_out() == 1 ? "{iterations} that the recording does not have whole is left out."
                                                                              : "{iterations} that the recording does not have whole are left out.",
                                                         {{"iterations", counted(loop.left_out(), "iteration")}}));
  if (loop.inside() > 0)
    answer.summary = followed_by(answer.summary, Message(loop.inside() == 1 ? "{ranges} that lies inside another iteration does not count."
                                                                            : "{ranges} that lie inside another iteration do not count.",
                                                         {{"ranges", counted(loop.inside(), "range")}}));
  if (loop.elsewhere() > 0)
    answer.summary = followed_by(answer.summary, Message(loop.elsewhere() == 1 ? "{ranges} like them on another thread at the same time does not count."
                                                                               : "{ranges} like them on other threads at the same time do not count.",
                                                         {{"ranges", counted(loop.elsewhere(), "range")}}));
  if (const std::vector<const TracePart*> counting = parts_that_only_count(trace); !counting.empty()) {
    std::string names;
    for (const TracePart* part : counting) names += (names.empty() ? "" : ", ") + std::string(short_label(part->label));
    answer.summary = followed_by(answer.summary, Message(counting.size() == 1 ? "{files} is another run: only its counts of instructions are used."
                                                                              : "{files} are other runs: only their counts of instructions are used.",
                                                         {{"files", names}}));
  }
  const CountedIterations iterations = work.disturbed_iterations() > 0 ? counted_iterations(trace, work) : CountedIterations{};
  answer.findings = describe_causes(trace, families, loop, collected, arguments.real("share"), iterations);
  cost_in_all_iterations(iterations, answer.findings);
  answer.tables.push_back({"gpu_bubbles", "Idle time by cause, NVTX range and call", group_table(trace, families, loop, collected, arguments.integer("rows"))});
  answer.tables.push_back({"gpu_bubbles_causes", "Idle time by GPU and cause", cause_table(trace, loop, collected)});
  answer.tables.push_back({"gpu_bubbles_gpus", "GPUs", gpu_table(trace, collected)});
  if (context.tables == RuleTables::kAll) answer.tables.push_back({"gpu_bubbles_streams", "Idle time of streams", stream_table(context)});
  std::size_t groups = 0;
  for (const Group& group : collected.groups) groups += group.by_gpu.size();
  const std::size_t shown = answer.tables.front().table.row_count();
  std::erase_if(answer.tables, [](const NamedTable& table) { return table.table.empty(); });
  if (answer.findings.empty()) answer.message = followed_by(answer.summary, "No cause takes much of it.");
  if (shown < groups) answer.message = followed_by(answer.message, rows_left_out_text("gpu_bubbles", shown, groups));
  return answer;
}

}  // namespace lanescope::analysis
