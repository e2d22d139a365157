// tail: iterations that take longer than the others, and how they differ; iterations that become slower are in growth_findings.h.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <tuple>

#include "comparison.h"
#include "gpu_iterations.h"
#include "growth.h"
#include "growth_findings.h"
#include "idle/counter_readings.h"
#include "idle/gpu_operations.h"
#include "loop/iterations.h"
#include "loop/loop_work.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/threads/critical_path.h"
#include "own_rules.h"
#include "wording.h"

namespace lanescope::analysis {
namespace tail {
namespace {

// The start of the first operation of a GPU, which may be needed for many processes.
class FirstWork {
 public:
  explicit FirstWork(const Trace& trace) : trace_(trace), tracks_(trace) {}
  [[nodiscard]] std::optional<Nanoseconds> of(std::span<const GpuId> gpus) {
    std::optional<Nanoseconds> first;
    for (const GpuId gpu : gpus) {
      const auto [known, is_new] = begins_.try_emplace(gpu);
      if (is_new)
        if (const auto operation = GpuOperations(trace_, tracks_.of(gpu), GpuOperations::kEver, {}).next()) known->second = operation->range.begin;
      if (known->second) first = std::min(first.value_or(*known->second), *known->second);
    }
    return first;
  }

 private:
  const Trace& trace_;
  GpuTracks tracks_;
  std::map<GpuId, std::optional<Nanoseconds>> begins_;
};

// Leaves out iterations that do not lie completely in the time; iterations of which the recording saw too little, because most of their time lies
// before the first GPU work that it has; and iterations in which counters of kernels were read, if enough others are left.
Iterations iterations_of(const RuleContext& context, const ReadingTimes& readings, const IterationSeries& series, std::optional<Nanoseconds> first_work) {
  const Trace& trace = context.trace;
  Iterations iterations;
  const std::vector<TimeRange> times = iteration_times(trace, series);
  const std::size_t warms_up = series.warm_up;
  const auto is_asked_for = [&](TimeRange time) { return context.time.contains(time.begin) && time.end <= context.time.end; };
  std::vector<TimeRange> asked_for;
  std::size_t warm_up = 0;  // of the iterations that were asked for
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!is_asked_for(times[i])) continue;
    if (i < warms_up) ++warm_up;
    asked_for.push_back(times[i]);
  }
  const std::vector<TimeRange> disturbed = disturbed_of(series.process, asked_for, warm_up, readings);
  const auto is_disturbed = [&](TimeRange time) {
    return std::binary_search(disturbed.begin(), disturbed.end(), time, [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  };
  for (std::size_t i = 0; i < times.size(); ++i)
    if (is_asked_for(times[i]) && (!first_work || times[i].begin + times[i].length() / 2 >= *first_work) && !is_disturbed(times[i]))
      iterations.all.push_back({series.ranges[i], times[i]});
  return iterations;
}

// What slow iterations together have more of than a usual one.
struct CommonExcess {
  Nanoseconds time = 0;
  std::size_t iterations = 0;  // that have more of it
  HeldUp most;                 // of one iteration
  std::size_t place = 0;       // of that iteration among the slow ones
};
using CommonExcesses = std::map<HeldUpTimes::key_type, CommonExcess>;

void add_excess(CommonExcesses& sums, const HeldUpTimes& excess, std::size_t place) {
  for (const auto& [what, of_iteration] : excess) {
    CommonExcess& sum = sums[what];
    sum.time += of_iteration.time;
    ++sum.iterations;
    if (of_iteration.time > sum.most.time) sum.most = of_iteration, sum.place = place;
  }
}

// The largest sum; no time if there is none.
CommonExcess most_of(const CommonExcesses& sums) {
  CommonExcess most;
  for (const auto& [what, sum] : sums)
    if (sum.time > most.time) most = sum;
  return most;
}

std::string_view advice_about_thread(const HeldUp& most) {
  const PathPart& part = most.longest;
  const bool is_known = part.kind == PathKind::kThread ? part.cause != IdleCause::kUnknown : part.kind != PathKind::kUnknown;
  if (most.time == 0 || !is_known)
    return "Look at what the program does in a slow iteration and not in its neighbour. States of threads and samples of the CPU, where they are recorded "
           "(lanescope profile --cpuctxsw process-tree --sample process-tree), tell waiting from running.";
  if (part.kind == PathKind::kThread && part.cause == IdleCause::kOsProcessor)
    return "Leave the program more processors: fewer threads and workers of its own, fewer other programs, or a larger limit of its container.";
  if (part.kind == PathKind::kThread && part.cause == IdleCause::kCpuCode)
    return "Look at what the thread ran then (lanescope stats -r cpu_samples --filter-nvtx): inputs of unequal size, evaluation, checkpoints and garbage "
           "collection are usual reasons.";
  return "Look at what the thread waited for then: lanescope analyze --critical-path --filter-nvtx lists the parts of an iteration. Files, locks, other "
         "processes and loaders that run dry are usual reasons.";
}

// By how much slow iterations exceed usual ones, on GPUs.
struct GpuExcess {
  std::map<GpuId, Components> sums;
  Components most{};                             // of an iteration
  std::array<std::size_t, kComponents> place{};  // of that iteration among the slow ones
};

// Adds the excess of an iteration, the slow one with the number `place`, to the sums. Returns the largest, of the GPU that has most of it, because all GPUs go
// through the same time.
Excess add_excess(const Iterations& iterations, std::size_t iteration, const Usual& usual, std::size_t place, GpuExcess& all) {
  Excess largest;
  for (const auto& [gpu, of_gpu] : iterations.gpus) {
    Components& sums = all.sums[gpu];
    for (std::size_t i = 0; i < kComponents; ++i) {
      const Nanoseconds excess = of_gpu.of(iteration, i) - usual.gpus.at(gpu).components[i];
      sums[i] += std::max<Nanoseconds>(0, excess);
      if (excess > largest.time) largest = {i, excess};
      if (excess > all.most[i]) all.most[i] = excess, all.place[i] = place;
    }
  }
  return largest;
}

// How much longer than usual, in the iteration's time, the GPU worked on something that the iteration did not enqueue, or made its work wait for an
// event or another stream. The iteration waited for a queue then, and there is nothing to win. The largest value of any GPU.
Nanoseconds waited_for_queue(const Iterations& iterations, std::size_t iteration, const Usual& usual) {
  Nanoseconds longest = 0;
  for (const auto& [gpu, times] : usual.gpus) {
    const Iterations::OfGpu& of_gpu = iterations.gpus.at(gpu);
    const Nanoseconds enqueued = std::max<Nanoseconds>(0, of_gpu.enqueued(iteration) - times.enqueued);
    const Nanoseconds worked = std::max<Nanoseconds>(0, of_gpu.busy_in(iteration) - times.busy - enqueued);
    const Nanoseconds held = std::max<Nanoseconds>(0, of_gpu.held_in(iteration) - times.held);
    longest = std::max(longest, worked + held);
  }
  return longest;
}

// How much longer than usual a GPU waited in an iteration for ranks that came later.
Nanoseconds waited_longer(const Iterations& iterations, std::size_t iteration, const Usual& usual) {
  Nanoseconds longest = 0;
  for (const auto& [gpu, times] : usual.gpus) longest = std::max(longest, iterations.gpus.at(gpu).of(iteration, kWaiting) - times.components[kWaiting]);
  return longest;
}

Excess largest_excess(const GpuExcess& all) {
  Excess largest;
  for (const auto& [gpu, sums] : all.sums)
    for (std::size_t i = 0; i < kComponents; ++i)
      if (sums[i] > largest.time) largest = {i, sums[i]};
  return largest;
}

stats::Table empty_table() {
  return stats::Table({stats::integers("Duration", stats::Unit::kNanoseconds), stats::reals("Of Median", stats::Unit::kPercent),
                       stats::integers("Start", stats::Unit::kNanoseconds), stats::integers("Excess", stats::Unit::kNanoseconds),
                       stats::texts("What Differs Most"), stats::texts("Process"), stats::texts("Iteration")});
}

// The slow iterations of a process, if they take enough time to be a finding.
struct Slow {
  const OfProcess* of = nullptr;
  Finding finding;
  std::vector<std::size_t> iterations;    // in ascending order
  std::vector<std::size_t> own;           // those that are slow for other reasons than waiting for ranks that came later
  Nanoseconds waiting = 0;                // the part of the cost in which they waited longer for such ranks than usual
  std::size_t compared = 0;               // with how many iterations
  Nanoseconds typical = 0;                // the median of these
  std::optional<Growth> growth;           // if they become longer and longer: then each is compared with its neighbours
  std::vector<Nanoseconds> medians;       // with which each of the slow iterations is compared
  std::vector<std::size_t> usual;         // for each of them, the first of those compared whose time is nearest to the median
  std::vector<Nanoseconds> times;         // of the slow iterations, without what they waited for queues
  std::vector<Excess> differs;            // what differs most in each of them, on a GPU
  Excess most;                            // what differs most in all of them, on a GPU
  std::size_t slowest = 0;                // of them
  std::size_t place = 0;                  // the slow iteration that has most of `most`; the slowest if nothing differs on a GPU
  CommonExcesses in_all;                  // what takes longer than usual on the critical paths of all that were looked at
  std::map<std::size_t, HeldUp> held_up;  // what takes longer than usual on the critical path; for those that were looked at, by their places in `iterations`
  [[nodiscard]] bool is_finding() const noexcept { return !finding.rule.empty(); }
};

// The rank for which a process waits most in its slow iterations; nothing if it waits for none.
std::optional<std::uint32_t> origin_of(const Slow& slow) {
  std::map<std::uint32_t, Nanoseconds> times;
  for (const Iterations::Origin& origin : slow.of->iterations.origins)
    if (std::binary_search(slow.iterations.begin(), slow.iterations.end(), origin.iteration)) times[origin.rank] += origin.time;
  const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::nullopt : std::optional(most->first);
}

Message title_of(const Slow& slow, Named named, std::vector<Message::Value> values) {
  if (slow.growth)
    return Message(
        named == Named::kRange
            ? "{slow} of {iterations} (\"{range}\") took over {percent} longer than the median of their neighbours: together {time} more."
            : "{slow} of {iterations} (\"{range}\") of {process} took over {percent} longer than the median of their neighbours: together {time} more.",
        std::move(values));
  return Message(named == Named::kRange
                     ? "{slow} of {iterations} (\"{range}\") took over {percent} longer than the median of {median}: together {time} more."
                     : "{slow} of {iterations} (\"{range}\") of {process} took over {percent} longer than the median of {median}: together {time} more.",
                 std::move(values));
}

// Measures the slow iterations of a process. Returns nothing if there are none.
std::optional<Slow> find_slow(const Search& search, const OfProcess& of) {
  const Iterations& iterations = of.iterations;
  const double slower = search.arguments.real("slower");
  const IndexRange compared = compared_of(search.trace, of);
  if (compared.first == compared.end) return std::nullopt;
  Slow found;
  found.of = &of;
  found.compared = compared.end - compared.first;
  found.growth = growth_of(times_with_work(iterations, compared));
  Usual usual = usual_times(iterations, compared);
  found.typical = usual.length;
  GpuExcess gpus;
  const auto is_slow = [&](Nanoseconds time, Nanoseconds median) { return static_cast<double>(time) > static_cast<double>(median) * (1 + slower / 100); };
  const std::size_t usual_of_all = nearest_to(iterations, compared, usual.length);
  for (std::size_t i = compared.first; i < compared.end; ++i) {
    const Nanoseconds length = iterations.length(i);
    IndexRange neighbours = compared;
    if (found.growth) {
      neighbours = neighbours_of(i - compared.first, found.compared);
      neighbours = {neighbours.first + compared.first, neighbours.end + compared.first};
      if (!is_slow(length, usual_length(iterations, neighbours))) continue;
      usual = usual_times(iterations, neighbours);
    }
    const Nanoseconds time = length - waited_for_queue(iterations, i, usual);
    if (!is_slow(time, usual.length)) continue;
    found.finding.cost += time - usual.length;
    const Nanoseconds waited = std::min(time - usual.length, waited_longer(iterations, i, usual));
    found.waiting += waited;
    if (2 * waited < time - usual.length) found.own.push_back(i);
    if (!found.times.empty() && time > found.times[found.slowest]) found.slowest = found.times.size();
    found.differs.push_back(add_excess(iterations, i, usual, found.iterations.size(), gpus));
    found.iterations.push_back(i);
    found.times.push_back(time);
    found.medians.push_back(usual.length);
    found.usual.push_back(found.growth ? nearest_to(iterations, neighbours, usual.length) : usual_of_all);
  }
  if (found.iterations.empty()) return std::nullopt;
  found.most = largest_excess(gpus);
  found.place = found.most.time == 0 ? found.slowest : gpus.place[found.most.component];
  if (is_enough(search, found.finding.cost, least_time(search, of, compared))) found.finding.rule = "tail";
  return found;
}

// Lays slow iterations in which nothing differs on a GPU beside a usual one. Of very many, those are looked at that tell most: the slowest of each process
// that has a finding, then the others, the longest first.
void lay_beside_usual(const Search& search, std::span<Slow> all) {
  constexpr std::size_t kMostLooks = 200;  // of all processes together
  struct Look {
    bool is_for_finding;
    Nanoseconds time;
    std::size_t process, place;
  };
  std::vector<Look> looks;
  for (std::size_t process = 0; process < all.size(); ++process)
    for (std::size_t place = 0; place < all[process].iterations.size(); ++place)
      if (all[process].differs[place].time == 0)
        looks.push_back({all[process].is_finding() && place == all[process].slowest, all[process].times[place], process, place});
  if (looks.empty()) return;
  const auto end = looks.begin() + static_cast<std::ptrdiff_t>(std::min(kMostLooks, looks.size()));
  std::partial_sort(looks.begin(), end, looks.end(), [](const Look& a, const Look& b) {
    return std::tuple(b.is_for_finding, b.time, a.process, a.place) < std::tuple(a.is_for_finding, a.time, b.process, b.place);
  });
  std::sort(looks.begin(), end, [](const Look& a, const Look& b) { return std::pair(a.process, a.place) < std::pair(b.process, b.place); });
  CriticalPaths paths(search.trace);
  const auto times_of = [&](const Slow& slow, std::size_t iteration) {
    return held_up_times(paths, search.families, slow.of->iterations.all[iteration].range, search.stop);
  };
  for (auto look = looks.begin(); look != end;) {
    Slow& slow = all[look->process];
    std::optional<std::size_t> compared;
    HeldUpTimes usual;
    for (const std::size_t process = look->process; look != end && look->process == process; ++look) {
      if (const std::size_t with = slow.usual[look->place]; compared != with) compared = with, usual = times_of(slow, with);
      const HeldUpTimes excess = excess_of(times_of(slow, slow.iterations[look->place]), usual);
      slow.held_up.emplace(look->place, most_of(excess));
      add_excess(slow.in_all, excess, look->place);
    }
  }
}

// Adds the slow iterations of a process to the table.
void add_rows(const Search& search, const Slow& slow, stats::Table& table) {
  const Trace& trace = search.trace;
  const FamilyId loop = slow.of->series->family;
  const Waiting waiting = search.ranks.waiting_of(slow.of->series->process);
  // Names may be long, and there may be very many rows.
  const stats::TextId process = table.add_text(name_of(trace, slow.of->series->process));
  std::array<std::optional<stats::TextId>, kComponents> components;
  std::map<NameId, stats::TextId> names;
  std::optional<stats::TextId> nothing, unknown;
  const auto text_of = [&](std::optional<stats::TextId>& text, const Message& words) {
    if (!text) text = table.add_text(words.english());
    return *text;
  };
  for (std::size_t place = 0; place < slow.iterations.size(); ++place) {
    const Iteration& iteration = slow.of->iterations.all[slow.iterations[place]];
    const Excess& differs = slow.differs[place];
    const auto held = slow.held_up.find(place);
    Nanoseconds excess = differs.time;
    stats::TextId what{};
    if (differs.time > 0) {
      what = text_of(components[differs.component], component_name(differs.component, waiting));
    } else if (held == slow.held_up.end()) {
      excess = stats::kNoInteger;
      what = text_of(unknown, Message("not examined: others took longer"));
    } else {
      excess = held->second.time;
      what = excess > 0 ? table.add_text(held_up_words(search.families, loop, held->second.longest).english())
                        : text_of(nothing, Message("nothing that was recorded"));
    }
    const auto [name, is_new] = names.try_emplace(trace.lane(iteration.range.lane).name(iteration.range.index));
    if (is_new) name->second = table.add_text(std::string(range_name(trace, iteration.range)));
    table.add_row(slow.times[place], percent_of(slow.times[place], slow.medians[place]), iteration.time.begin, excess, what, process, name->second);
  }
}

// Completes the finding about the slow iterations of a process.
void describe(const Search& search, Slow& slow) {
  const Trace& trace = search.trace;
  const IterationSeries& series = *slow.of->series;
  const Waiting waiting = search.ranks.waiting_of(series.process);
  const Excess& most = slow.most;
  const Nanoseconds slowest = slow.times[slow.slowest];
  const CommonExcess in_all = most_of(slow.in_all);
  Finding& finding = slow.finding;
  finding.title = title_of(slow, search.named,
                           with_names(trace, search.families, series,
                                      {{"slow", std::to_string(slow.iterations.size())},
                                       {"iterations", counted(slow.compared, "iteration")},
                                       {"percent", percent_text(static_cast<Nanoseconds>(search.arguments.real("slower")), 100)},
                                       {"median", duration_text(slow.typical)},
                                       {"time", duration_text(finding.cost)}}));
  const Message on_gpu = slow.of->iterations.gpus.empty() ? Message() : Message("On the GPU nothing differs.");
  const Message on_cpu = in_all.time == 0
                             ? Message()
                             : Message("What differs most from a usual one is {what}: {time} more, in {count} of them. The slowest took {slowest}.",
                                       {{"slowest", duration_text(slowest)},
                                        {"what", held_up_words(search.families, series.family, in_all.most.longest)},
                                        {"count", std::to_string(in_all.iterations)},
                                        {"time", duration_text(in_all.time)}});
  finding.seen = most.time == 0 ? followed_by(on_gpu, on_cpu)
                                : Message(most.time <= finding.cost
                                              ? "What differs most is {what}: {time} ({share}) more in them. The slowest took {slowest}."
                                              : "What differs most is {what}: {time} more in them, where other things took less. The slowest took {slowest}.",
                                          {{"what", component_name(most.component, waiting)},
                                           {"time", duration_text(most.time)},
                                           {"share", percent_text(most.time, finding.cost)},
                                           {"slowest", duration_text(slowest)}});
  if (const std::optional<std::uint32_t> origin = origin_of(slow); origin && most.component == kWaiting)
    finding.seen = followed_by(finding.seen, Message("It waited most for {rank}.", {{"rank", name_of(trace, search.ranks.processes[*origin])}}));
  const Iteration& place = slow.of->iterations.all[slow.iterations[most.time == 0 && in_all.time > 0 ? in_all.place : slow.place]];
  finding.place.range = place.time;
  finding.place.event = place.range;
  finding.place.process = series.process;
  finding.place.thread = search.trace.track_of(place.range.lane).key.thread;
  finding.advice = Message(most.time == 0 ? advice_about_thread(in_all.most) : advice_about(most.component, waiting));
}

// A finding, and the iterations that need not be reported again for other processes.
class Leader {
 public:
  Leader(const Trace& trace, const Ranks& ranks, const Slow& slow)
      : trace_(trace), ranks_(ranks), slow_(slow), iterations_(slow.own.empty() ? slow.iterations : slow.own) {
    for (const std::size_t i : iterations_) names_.insert(range_name(trace, slow.of->iterations.all[i].range));
  }

  // True if the other process need not be reported. For a rank of the same program that communicates as this one does: if at least half of its iterations that
  // are slow for reasons of its own are among these, or if it only waits, and does so in one of these. For other processes, which may meet in a way that was
  // not recorded: if it is mostly slow in the same iterations, and at the same time.
  [[nodiscard]] bool says(const Slow& other) const {
    if (other.of->series->family != slow_.of->series->family) return false;
    const auto own = ranks_.programs.find(slow_.of->series->process), others = ranks_.programs.find(other.of->series->process);
    if (own == ranks_.programs.end() || others == ranks_.programs.end() || own->second != others->second) {
      const std::size_t same = count_same(other, other.iterations);
      return !time_of(slow_).intersected(time_of(other)).empty() && 2 * same > other.iterations.size() && 2 * same > slow_.iterations.size();
    }
    return other.own.empty() ? count_same(other, other.iterations) > 0 : 2 * count_same(other, other.own) >= other.own.size();
  }
  void add(const Slow& other) {
    others_.push_back(other.of->series->process);
    waiting_ += other.waiting;
  }
  [[nodiscard]] Finding finding() const {
    Finding finding = slow_.finding;
    if (!others_.empty())
      finding.seen = followed_by(
          std::move(finding.seen),
          Message(waiting_ > 0 ? "The same iterations took longer on {ranks} as well, which waited for {time} together for ranks that came later: {names}."
                               : "The same iterations took longer on {ranks} as well: {names}.",
                  {{"ranks", counted(others_.size(), "other rank")}, {"time", duration_text(waiting_)}, {"names", names_of_others()}}));
    return finding;
  }

 private:
  static TimeRange time_of(const Slow& slow) { return {slow.of->iterations.all.front().time.begin, slow.of->iterations.all.back().time.end}; }
  [[nodiscard]] Message names_of_others() const {
    constexpr std::size_t kMostNamed = 8;
    Message names;
    for (std::size_t i = 0; i < std::min(kMostNamed, others_.size()); ++i) names = listed(std::move(names), Message::verbatim(name_of(trace_, others_[i])));
    return others_.size() > kMostNamed ? Message("{names}, ...", {{"names", names}}) : names;
  }
  // Iterations correspond by their order, or by their names if processes have different numbers of them.
  [[nodiscard]] std::size_t count_same(const Slow& other, std::span<const std::size_t> some) const {
    const std::vector<Iteration>& all = other.of->iterations.all;
    const bool by_order = all.size() == slow_.of->iterations.all.size();
    return static_cast<std::size_t>(std::count_if(some.begin(), some.end(), [&](std::size_t i) {
      return by_order ? std::binary_search(iterations_.begin(), iterations_.end(), i) : names_.contains(range_name(trace_, all[i].range));
    }));
  }

  const Trace& trace_;
  const Ranks& ranks_;
  const Slow& slow_;
  const std::vector<std::size_t>& iterations_;
  std::set<std::string_view> names_;
  std::vector<ProcessId> others_;
  Nanoseconds waiting_ = 0;
};

// A slow iteration on one rank is also slow on the ranks that wait for it: this is reported as one finding, for the rank that has most of it without
// waiting.
std::vector<Finding> once_for_ranks_that_meet(const Trace& trace, const Ranks& ranks, std::vector<Slow> all) {
  constexpr std::ptrdiff_t kMostLeaders = 64;  // with which others are compared
  std::stable_sort(all.begin(), all.end(), [](const Slow& a, const Slow& b) { return a.finding.cost - a.waiting > b.finding.cost - b.waiting; });
  std::vector<Leader> leaders;
  for (const Slow& one : all) {
    const auto end = leaders.begin() + std::min(kMostLeaders, std::ssize(leaders));
    if (const auto leader = std::find_if(leaders.begin(), end, [&](const Leader& each) { return each.says(one); }); leader != end)
      leader->add(one);
    else
      leaders.emplace_back(trace, ranks, one);
  }
  std::vector<Finding> findings;
  for (const Leader& leader : leaders) findings.push_back(leader.finding());
  return findings;
}

// Of very many iterations on many GPUs, the GPUs of each process that have most of its operations: iterations of a real program have operations on each GPU.
void leave_out_gpus(const Trace& trace, std::span<const OfProcess> processes, std::map<ProcessId, std::vector<GpuId>>& gpus) {
  constexpr std::size_t kMostPairs = 2'000'000;  // of an iteration and a GPU, or else as many as operations
  std::size_t operations = 0, pairs = 0;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind))
      for (const LaneId lane : track.lanes) operations += trace.lane(lane).size();
  for (const OfProcess& process : processes) pairs += process.iterations.all.size() * gpus[process.series->process].size();
  const double part = static_cast<double>(std::max(kMostPairs, operations)) / static_cast<double>(std::max<std::size_t>(1, pairs));
  if (part >= 1) return;
  const GpuTracks tracks(trace);
  for (auto& [process, of_process] : gpus) {
    std::vector<std::pair<std::size_t, GpuId>> by_operations;
    for (const GpuId gpu : of_process) {
      std::size_t own = 0;
      for (const TrackId track : tracks.of(gpu, process))
        for (const LaneId lane : trace.tracks()[track].lanes) own += trace.lane(lane).size();
      by_operations.emplace_back(own, gpu);
    }
    std::stable_sort(by_operations.begin(), by_operations.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const auto most = static_cast<std::size_t>(part * static_cast<double>(of_process.size()));
    by_operations.resize(std::min(by_operations.size(), std::max<std::size_t>(1, most)));
    of_process.clear();
    for (const auto& [own, gpu] : by_operations) of_process.push_back(gpu);
    std::sort(of_process.begin(), of_process.end());
  }
}

}  // namespace
}  // namespace tail

Result<RuleAnswer> find_tail(const RuleContext& context, const RuleArguments& arguments) {
  using namespace tail;
  const Trace& trace = context.trace;
  RuleAnswer answer;
  const LoopWork& work = loop_work(context);
  Families families = work.families();
  const std::string& wanted = arguments.text("range");
  const bool are_known = wanted.empty() && context.time == kWholeTrace;
  const std::vector<IterationSeries> asked_for = are_known ? std::vector<IterationSeries>() : find_iterations(trace, families, wanted, *context.launch_index);
  const std::vector<IterationSeries>& all = are_known ? work.iterations() : asked_for;
  if (all.empty() && !wanted.empty()) return Error{"The trace has no NVTX range " + wanted + ". Its ranges: lanescope stats -r nvtx_sum", ErrorKind::kUsage};
  const ReadingTimes readings(reads_counters(trace) ? counter_readings(trace, context.launches(), context.stop) : std::vector<CounterReading>());
  const Ranks ranks = all.empty() ? Ranks() : ranks_of(trace, work);
  std::vector<OfProcess> found;
  std::map<ProcessId, std::vector<GpuId>> gpus;
  FirstWork first_work(trace);
  for (const IterationSeries& series : all) {
    const std::vector<GpuId>& of_process = gpus.try_emplace(series.process, gpus_of(trace, series.process)).first->second;
    Iterations iterations = iterations_of(context, readings, series, first_work.of(of_process));
    if (!iterations.all.empty()) found.push_back({&series, std::move(iterations)});
  }
  leave_out_gpus(trace, found, gpus);
  add_what_gpus_did(context, ranks.waits, gpus, work.with_readings(), found);
  const auto is_first = [&](const OfProcess& one) { return one.series->process == found.front().series->process; };
  const Named named = std::all_of(found.begin(), found.end(), is_first) ? Named::kRange : Named::kRangeAndProcess;
  const Search search{trace, arguments, families, work, ranks, named, context.stop};
  std::vector<Slow> slow;
  for (const OfProcess& one : found)
    if (std::optional<Slow> of_process = find_slow(search, one)) slow.push_back(*std::move(of_process));
  lay_beside_usual(search, slow);
  stats::Table table = empty_table();
  for (const Slow& one : slow) add_rows(search, one, table);
  std::erase_if(slow, [](const Slow& one) { return !one.is_finding(); });
  for (Slow& one : slow) describe(search, one);
  answer.findings = once_for_ranks_that_meet(trace, ranks, std::move(slow));
  for (Finding& finding : growth_findings(search, found)) answer.findings.push_back(std::move(finding));
  rank(answer.findings);
  if (!table.empty()) answer.tables.push_back({"tail", "Slow iterations", std::move(table)});
  if (answer.findings.empty())
    answer.message = all.empty()             ? Message("The trace has no NVTX ranges that repeat like iterations.")
                     : answer.tables.empty() ? Message("No iteration is much slower than the median.")
                                             : Message("Iterations that are much slower than the median cost little time.");
  return answer;
}

}  // namespace lanescope::analysis
