#include "comparison.h"

#include <algorithm>
#include <set>

#include "loop/iterations.h"
#include "model/events/event_values.h"
#include "model/text/to_translate.h"
#include "model/trace/median.h"
#include "threads/call_class.h"
#include "wording.h"

namespace lanescope::analysis::tail {

Ranks ranks_of(const Trace& trace, const LoopWork& work) {
  Ranks ranks;
  bool communicates = false;  // the ranks are not examined if none communicates
  for (NameId name = 0; name < trace.name_count() && !communicates; ++name) communicates = is_communication_name(trace.name(name));
  if (!communicates) return ranks;
  for (const RankWork& rank : work.of_ranks()) ranks.processes.push_back(rank.process);
  for (std::size_t number = 0; number < work.programs().size(); ++number) {
    const RanksOfProgram& program = work.programs()[number];
    for (KernelWait wait : program.waits.kernels) {
      if (wait.origin != kNone) wait.origin = static_cast<std::uint32_t>(program.ranks[wait.origin]);
      ranks.waits.push_back(wait);
    }
    std::vector<ProcessId> communicating;
    for (const std::size_t rank : program.ranks)
      if (work.of_ranks()[rank].communication.total() > 0) communicating.push_back(work.of_ranks()[rank].process);
    for (const ProcessId process : communicating) ranks.programs.emplace(process, number);
    if (communicating.size() > 1 && program.waits.are_matched) ranks.matched.insert(communicating.begin(), communicating.end());
  }
  std::sort(ranks.waits.begin(), ranks.waits.end(), [](const KernelWait& a, const KernelWait& b) { return a.kernel < b.kernel; });
  return ranks;
}

Message component_name(std::size_t component, Waiting waiting) {
  if (component == kWork) return Message("GPU work (kernels and copies)");
  if (component == kCommunicating) return Message(waiting == Waiting::kIsKnown ? "communication" : "communication, or waiting for other ranks");
  if (component == kWaiting) return Message("waiting for a rank that came later");
  if (component == kOthers) return Message("time in which other processes used the GPU");
  if (component == kIdleForOthers) return Message("idle GPU before work of other processes");
  return Message("idle GPU {why}", {{"why", Message(idle_cause_clause(static_cast<IdleCause>(component)))}});
}

std::vector<GpuId> gpus_of(const Trace& trace, ProcessId process) {
  std::set<GpuId> gpus;
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
    for (const TrackId track : trace.tracks_of(process, kind)) gpus.insert(trace.tracks()[track].key.gpu);
  return {gpus.begin(), gpus.end()};
}

Nanoseconds usual_length(const Iterations& iterations, IndexRange range) {
  std::vector<Nanoseconds> times;
  times.reserve(range.end - range.first);
  for (std::size_t i = range.first; i < range.end; ++i) times.push_back(iterations.length(i));
  return median(std::move(times));
}

Usual usual_times(const Iterations& iterations, IndexRange range) {
  Usual usual{usual_length(iterations, range), {}};
  const auto typical = [&](const std::vector<Nanoseconds>& times) {
    const auto at = [&](std::size_t i) { return times.begin() + static_cast<std::ptrdiff_t>(i); };
    return times.empty() ? 0 : median<Nanoseconds>({at(range.first), at(range.end)});
  };
  for (const auto& [gpu, of_gpu] : iterations.gpus) {
    Usual::OfGpu& times = usual.gpus[gpu];
    times.busy = typical(of_gpu.busy);
    times.held = typical(of_gpu.held);
    for (std::size_t i = 0; i < kComponents; ++i) times.components[i] = typical(of_gpu.components[i]);
    std::vector<Nanoseconds> enqueued;
    enqueued.reserve(range.end - range.first);
    for (std::size_t i = range.first; i < range.end; ++i) enqueued.push_back(of_gpu.enqueued(i));
    times.enqueued = median(std::move(enqueued));
  }
  return usual;
}

std::size_t nearest_to(const Iterations& iterations, IndexRange range, Nanoseconds typical) {
  const auto distance = [&](std::size_t i) { return std::max(iterations.length(i), typical) - std::min(iterations.length(i), typical); };
  std::size_t nearest = range.first;
  for (std::size_t i = range.first; i < range.end; ++i)
    if (distance(i) < distance(nearest)) nearest = i;
  return nearest;
}

IndexRange compared_of(const Trace& trace, const OfProcess& of) {
  const EventRef after_warm_up = of.series->ranges[of.series->warm_up];
  const Nanoseconds warmed_up = trace.lane(after_warm_up.lane).start(after_warm_up.index);
  const std::vector<Iteration>& all = of.iterations.all;
  const auto first = std::find_if(all.begin(), all.end(), [&](const Iteration& iteration) { return iteration.time.begin >= warmed_up; });
  return {static_cast<std::size_t>(first - all.begin()), all.size()};
}

Nanoseconds least_time(const Search& search, const OfProcess& of, IndexRange compared) {
  Nanoseconds all = 0, reading = 0;
  for (std::size_t i = compared.first; i < compared.end; ++i) all += of.iterations.length(i);
  for (const GpuId gpu : gpus_of(search.trace, of.series->process)) reading = std::max(reading, search.work.reading(gpu));
  const std::optional<TimeRange> loop = search.work.of_process(of.series->process);
  return std::max(all, loop ? loop->length() - reading : 0);  // GPUs may take longer than the CPU
}

bool is_enough(const Search& search, Nanoseconds cost, Nanoseconds of_time) {
  return static_cast<double>(cost) >= search.arguments.real("share") / 100 * static_cast<double>(of_time);
}

std::vector<Nanoseconds> times_with_work(const Iterations& iterations, IndexRange range) {
  std::vector<Nanoseconds> times;
  times.reserve(range.end - range.first);
  for (std::size_t i = range.first; i < range.end; ++i) {
    Nanoseconds& time = times.emplace_back(iterations.length(i));
    for (const auto& [gpu, of_gpu] : iterations.gpus) time = std::max(time, of_gpu.enqueued(i));
  }
  return times;
}

HeldUpTimes held_up_times(CriticalPaths& paths, Families& families, EventRef iteration, const std::stop_token& stop) {
  HeldUpTimes times;
  for (const PathPart& part : paths.of(iteration, stop).parts) {
    HeldUp& sum = times[{part.kind, part.kind == PathKind::kThread ? part.cause : IdleCause::kUnknown, families.of(part.event)}];
    sum.time += part.range.length();
    if (part.range.length() > sum.longest.range.length()) sum.longest = part;
  }
  return times;
}

HeldUpTimes excess_of(HeldUpTimes slow, const HeldUpTimes& usual) {
  for (auto& [what, sum] : slow)
    if (const auto same = usual.find(what); same != usual.end()) sum.time -= same->second.time;
  std::erase_if(slow, [](const auto& entry) { return entry.second.time <= 0; });
  return slow;
}

HeldUp most_of(const HeldUpTimes& excess) {
  HeldUp most;
  for (const auto& [what, sum] : excess)
    if (sum.time > most.time) most = sum;
  return most;
}

Message held_up_words(Families& families, FamilyId loop, const PathPart& part) {
  const FamilyId family = families.of(part.event);
  if (family == 0 || family == loop) return path_words(part);
  return Message("{what} ({place})", {{"what", path_words(part)}, {"place", std::string(api_display_name(families.text(family)))}});
}

std::string_view advice_about(std::size_t component, Waiting waiting) {
  if (component == kWork)
    return "Compare kernels and copies of a slow iteration and of its neighbour: inputs of unequal size (batches, sequence lengths), copies of pageable "
           "memory, further work such as evaluation, or a GPU that runs slower (lanescope profile --gpu-metrics-devices shows its clocks).";
  if (component == kCommunicating)
    return waiting == Waiting::kIsKnown
               ? to_translate("Compare what is communicated in a slow iteration and in its neighbour, and look at what else uses the network then.")
               : to_translate("Open the recordings of all ranks together: they tell who waits for whom.");
  if (component == kWaiting) return "Look at what the rank that came later does at this time (imbalance): nothing is to be won on those that wait for it.";
  if (component == kOthers)
    return "Look whether this process had work for the GPU at this time. If it had, give the other processes another GPU, or another time; if not, look at "
           "what its threads did.";
  if (component == kIdleForOthers) return "This process had no work for the GPU at this time: look at what its threads did.";
  if (static_cast<IdleCause>(component) == IdleCause::kCommunication)
    return "Look at the other ranks at this time: collectives end when the last one has come.";
  return "Zoom to a slow iteration and to its neighbour and compare them; evaluation, checkpoints, garbage collection and loaders that run "
         "dry are usual reasons.";
}

std::string name_of(const Trace& trace, ProcessId process) {
  const std::string file = file_of_process(trace, process), name = process_label(trace, process);
  return file.empty() ? name : file + ": " + name;
}

std::vector<Message::Value> with_names(const Trace& trace, const Families& families, const IterationSeries& series, std::vector<Message::Value> values) {
  values.emplace_back("range", std::string(loop_name(families.text(series.family))));
  values.emplace_back("process", name_of(trace, series.process));
  return values;
}

}  // namespace lanescope::analysis::tail
