// small_grid, tail_wave and low_occupancy: kernels whose launch shape cannot fill the GPU, by the cost of all their launches.
//
// A launch counts for the time in which no other kernel ran on its GPU: beside other kernels, what it leaves empty is not lost. Launches outside of the
// program's loop form groups of their own: they are paid once.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "../collectors.h"
#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/events/event_values.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/matrix_product.h"
#include "model/kernels/occupancy.h"
#include "model/trace/kernel_records.h"
#include "model/trace/measured_calls.h"
#include "threads/call_class.h"

namespace lanescope::analysis {
namespace {

using Extent = std::array<std::uint32_t, 3>;
Extent extent_of(const std::uint32_t (&extent)[3]) { return {extent[0], extent[1], extent[2]}; }

// A kernel of one shape on one GPU, and the time of its launches, in the loop or outside of it.
struct LaunchGroup {
  Recurrence recurrence = Recurrence::kRecurring;
  std::size_t kind = 0;  // equal for all groups of a kernel and shape on GPUs of a kind
  GpuId gpu = kNone;
  NameId name = 0;
  DetailId detail = 0;  // of the first launch
  std::uint64_t launches = 0;
  Nanoseconds total = 0;
  Nanoseconds alone = 0;  // time without other kernels beside it, in launches of at least the duration that counts
  Nanoseconds longest = -1;
  EventRef longest_launch;
};

struct LaunchGroups {
  std::vector<LaunchGroup> groups;
  // For each GPU, from its first operation to its last, minus the time that reading counters of kernels took; at least the time of all its kernels. For
  // recurring launches the time of the loop, if one is known.
  std::vector<std::array<Nanoseconds, 2>> whole;
};

// Collects kernels that do not communicate: communication kernels wait for other GPUs, and are meant to have few blocks. All work is visited once, for
// all durations from which on launches may count: these are its key.
class LaunchCollector : public OperationVisitor {
 public:
  LaunchCollector(const RuleContext& context, const SharedCollectors::Key& leasts)
      : trace_(context.trace), time_(context.time), work_(loop_work(context)), leasts_(leasts), communication_(context.trace, is_communication_name) {
    of_gpus_.resize(context.trace.gpus().size());
  }

  // Launches count from this duration on, which must be one of the key's.
  [[nodiscard]] LaunchGroups groups(Nanoseconds least) const {
    LaunchGroups result{groups_, {}};
    const std::vector<double> spent = measuring();
    for (GpuId gpu = 0; gpu < of_gpus_.size(); ++gpu) {
      const OfGpu& sums = of_gpus_[gpu];
      const auto measuring = static_cast<Nanoseconds>(std::clamp(spent[gpu], 0.0, static_cast<double>(sums.span)));
      const Nanoseconds all = std::max(sums.kernels, sums.span - measuring);
      const Nanoseconds of_loop = sums.loop ? work_.span(gpu, *sums.loop) : 0;
      result.whole.push_back({work_.loop().known() ? std::max(sums.kernels_in_loop, of_loop) : all, all});
    }
    const auto number = static_cast<std::size_t>(std::lower_bound(leasts_.begin(), leasts_.end(), least) - leasts_.begin());
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (std::size_t counting = number + 1; counting <= leasts_.size(); ++counting)
        result.groups[group].alone += alone_[group * leasts_.size() + counting - 1];
    return result;
  }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    extent_.reset();
    running_.clear();
    for (auto& same : same_) same.clear();
    last_.reset();
    now_ = INT64_MIN;
  }
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) {
      if (!extent_) extent_ = operation.range;
      extent_->end = std::max(extent_->end, operation.range.end);
      if (operation.kind != TrackKind::kKernels) continue;
      of_gpus_[gpu_].kernels += operation.range.length();
      advance(operation.range.begin);
      const Recurrence recurrence = work_.recurrence(operation);
      if (recurrence == Recurrence::kRecurring) of_gpus_[gpu_].kernels_in_loop += operation.range.length();
      const std::size_t group = group_of(recurrence, operation);
      const std::size_t counting = group == kNoGroup ? 0 : counting_for(operation.range.length());
      running_.push_back({operation.range.end, counting == 0 ? kNoGroup : group, counting});
      std::push_heap(running_.begin(), running_.end(), ends_later);
    }
  }
  void end() override {
    advance(INT64_MAX);
    if (!extent_) return;
    of_gpus_[gpu_].span = extent_->length();
    of_gpus_[gpu_].loop = work_.of_gpu(gpu_, *extent_);
  }

 private:
  struct Running {
    Nanoseconds end;
    std::size_t group;     // kNoGroup: it does not count
    std::size_t counting;  // number of the durations, the shortest first, for which it counts
  };
  static constexpr std::size_t kNoGroup = SIZE_MAX;
  static bool ends_later(const Running& a, const Running& b) noexcept { return a.end > b.end; }

  // The time that reading counters took on each GPU, by all programs that use it: a program that waits for its counters uses none of its GPUs. In a
  // recording of counters this is most of its span, so nothing else could be a notable share of that. For a part of the time it is the same fraction.
  [[nodiscard]] std::vector<double> measuring() const {
    const Trace& trace = trace_;
    std::vector<double> of_gpus(trace.gpus().size());
    if (!reads_counters(trace)) return of_gpus;
    const MeasuredCalls calls = MeasuredCalls::known(trace);
    const TimeRange whole = trace.extent();
    const Nanoseconds part = std::min(whole.end, time_.end) - std::max(whole.begin, time_.begin);
    const double share = whole.length() > 0 ? static_cast<double>(std::max<Nanoseconds>(part, 0)) / static_cast<double>(whole.length()) : 1;
    std::set<std::pair<GpuId, ProcessId>> users;
    for (const Track& track : trace.tracks())
      if (track.key.kind == TrackKind::kKernels && calls.has_any(track.key.process)) users.emplace(track.key.gpu, track.key.process);
    for (const auto& [gpu, process] : users) of_gpus[gpu] += static_cast<double>(calls.spent(process)) * share;
    return of_gpus;
  }

  // Moves time on to t, and counts what ran alone until then.
  void advance(Nanoseconds t) {
    while (!running_.empty()) {
      const Running& first = running_.front();
      const Nanoseconds until = std::min(first.end, t);
      if (running_.size() == 1 && first.group != kNoGroup && until > now_) alone_[first.group * leasts_.size() + first.counting - 1] += until - now_;
      now_ = std::max(now_, until);
      if (first.end > t) break;
      std::pop_heap(running_.begin(), running_.end(), ends_later);
      running_.pop_back();
    }
    now_ = t;
  }

  std::size_t group_of(Recurrence recurrence, const GpuOperation& operation) {
    if (communication_(operation.name)) return kNoGroup;
    const NameId name = operation.name;
    const DetailId detail = operation.detail;
    if (last_ && last_->name == name && last_->detail == detail && last_->recurrence == recurrence) return add(last_->group, operation);
    last_ = {name, detail, recurrence, group_of(recurrence, name, detail)};
    return add(last_->group, operation);
  }

  std::size_t group_of(Recurrence recurrence, NameId name, DetailId detail) {
    auto& known_here = same_[static_cast<std::size_t>(recurrence)];
    if (const auto same = known_here.find({name, detail}); same != known_here.end()) return same->second;
    const KernelDetail& d = trace_.kernel_detail(detail);
    const Gpu& model = trace_.gpus()[gpu_];
    // The split of memory between L1 and shared counts only by the number of blocks for which it leaves room: for launches whose counters were read,
    // CUPTI reports a split that is impossible.
    const auto multiprocessor = kernels::multiprocessor_of(model);
    const auto occupancy = multiprocessor ? kernels::occupancy(d, *multiprocessor) : std::nullopt;
    const std::size_t kind =
        kinds_
            .try_emplace({std::array{model.multiprocessor_count, model.compute_major, model.compute_minor}, name, extent_of(d.grid), extent_of(d.block),
                          extent_of(d.cluster), d.registers_per_thread, d.static_shared_memory, d.dynamic_shared_memory, occupancy ? occupancy->blocks : 0},
                         kinds_.size())
            .first->second;
    std::size_t& group = known_.try_emplace({gpu_, kind, recurrence}, kNoGroup).first->second;
    if (group == kNoGroup) {
      group = groups_.size();
      groups_.push_back({.recurrence = recurrence, .kind = kind, .gpu = gpu_, .name = name, .detail = detail, .longest_launch = {}});
      alone_.resize(groups_.size() * leasts_.size());
    }
    known_here.emplace(std::pair(name, detail), group);
    return group;
  }

  [[nodiscard]] std::size_t counting_for(Nanoseconds duration) const {
    std::size_t count = 0;
    while (count < leasts_.size() && leasts_[count] <= duration) ++count;
    return count;
  }

  // Returns the group.
  std::size_t add(std::size_t index, const GpuOperation& operation) {
    LaunchGroup& group = groups_[index];
    ++group.launches;
    group.total += operation.range.length();
    if (operation.range.length() > group.longest) {
      group.longest = operation.range.length();
      group.longest_launch = operation.event;
    }
    return index;
  }

  const Trace& trace_;
  TimeRange time_;
  const LoopWork& work_;
  const std::vector<Nanoseconds> leasts_;  // in ascending order
  NameMemo<bool> communication_;
  GpuId gpu_ = kNone;                // the current GPU
  std::optional<TimeRange> extent_;  // extent of its operations so far
  // By multiprocessors and compute capability, name, shape, and blocks that a multiprocessor holds at once.
  std::map<std::tuple<Extent, NameId, Extent, Extent, Extent, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> kinds_;
  std::map<std::tuple<GpuId, std::size_t, Recurrence>, std::size_t> known_;  // groups, by kind
  struct Hash {
    std::size_t operator()(const std::pair<NameId, DetailId>& key) const noexcept {
      return std::hash<std::uint64_t>()(std::uint64_t{key.first} << 32 | key.second);
    }
  };
  std::array<std::unordered_map<std::pair<NameId, DetailId>, std::size_t, Hash>, 2> same_;  // groups of this GPU, by recurrence
  struct Last {
    NameId name;
    DetailId detail;
    Recurrence recurrence;
    std::size_t group;
  };
  std::optional<Last> last_;  // kernels often follow others of their group
  std::vector<LaunchGroup> groups_;
  std::vector<Nanoseconds>
      alone_;  // for each group, by the number of durations for which launches count: the time that these launches ran alone; numbers start at one
  std::vector<Running> running_;
  Nanoseconds now_ = INT64_MIN;
  struct OfGpu {
    Nanoseconds span = 0;
    Nanoseconds kernels = 0;        // time of all kernels
    std::optional<TimeRange> loop;  // absent if it had no work in it
    Nanoseconds kernels_in_loop = 0;
  };
  std::vector<OfGpu> of_gpus_;
};

// All durations from which on launches count for rules that are answered together, and the defaults of the rules.
SharedCollectors::Key leasts_of(const RuleContext& context, Nanoseconds least) {
  std::set<Nanoseconds> leasts{0, 5'000, least};
  for (const RuleRequest& request : context.requests)
    if (request.rule->collect == collect_launch_shapes) leasts.insert(request.arguments.duration("duration"));
  return {leasts.begin(), leasts.end()};
}

// A rule's judgement of a group.
struct Judged {
  LaunchGroup group;
  kernels::Multiprocessor multiprocessor;
  kernels::Occupancy occupancy;
  kernels::Waves waves;
  Nanoseconds winnable = 0;  // at most
  Nanoseconds whole = 0;     // that shares refer to
  std::vector<KernelsOfGpu> kernels = {};

  [[nodiscard]] const KernelDetail& detail(const Trace& trace) const { return trace.kernel_detail(group.detail); }
};

struct Judgement {
  std::vector<Judged> judged;    // groups in which `share` finds something: recurring ones first, then those with most to win
  std::vector<Judged> together;  // the same, with groups of a kind on all GPUs combined: ranks run the same kernels
  bool shapes_known = false;
};

// A kernel and shape that was reported for the loop is not reported again for the time outside.
class Said {
 public:
  [[nodiscard]] bool is_new(const Judged& judged) { return kinds_.insert(judged.group.kind).second; }

 private:
  std::set<std::size_t> kinds_;
};

// Adds the same kernel on another GPU. The longest launch of all is the place to look at.
void add(const Judged& other, Judged& judged) {
  judged.kernels.insert(judged.kernels.end(), other.kernels.begin(), other.kernels.end());
  judged.winnable += other.winnable;
  judged.whole += other.whole;
  judged.group.launches += other.group.launches;
  judged.group.total += other.group.total;
  judged.group.alone += other.group.alone;
  if (other.group.longest <= judged.group.longest) return;
  judged.group.longest = other.group.longest;
  judged.group.longest_launch = other.group.longest_launch;
  judged.group.gpu = other.group.gpu;
}

// `share` returns the part that could be won at most of the time that a group ran alone; 0: nothing of interest.
template <typename Share>
Judgement judge(const RuleContext& context, Nanoseconds least, Share share) {
  Judgement result;
  const LaunchGroups launches = context.collectors->of<LaunchCollector>(context, leasts_of(context, least)).groups(least);
  for (const LaunchGroup& group : launches.groups) {
    const Gpu& gpu = context.trace.gpus()[group.gpu];
    const KernelDetail& detail = context.trace.kernel_detail(group.detail);
    const auto multiprocessor = kernels::multiprocessor_of(gpu);
    const auto occupancy = multiprocessor ? kernels::occupancy(detail, *multiprocessor) : std::nullopt;
    const auto waves = occupancy ? kernels::waves(detail, gpu, *occupancy) : std::nullopt;
    if (!waves) continue;
    result.shapes_known = true;
    Judged judged{.group = group, .multiprocessor = *multiprocessor, .occupancy = *occupancy, .waves = *waves};
    judged.kernels = {{group.gpu, group.name}};
    judged.whole = launches.whole[group.gpu][static_cast<std::size_t>(group.recurrence)];
    judged.winnable = static_cast<Nanoseconds>(static_cast<double>(group.alone) * share(judged));
    if (judged.winnable > 0) result.judged.push_back(judged);
  }
  std::map<std::pair<Recurrence, std::size_t>, std::size_t> of_kind;
  for (const Judged& judged : result.judged) {
    const auto [place, is_new] = of_kind.try_emplace({judged.group.recurrence, judged.group.kind}, result.together.size());
    if (is_new)
      result.together.push_back(judged);
    else
      add(judged, result.together[place->second]);
  }
  const auto is_first = [](const Judged& a, const Judged& b) {
    return a.group.recurrence != b.group.recurrence ? a.group.recurrence < b.group.recurrence : a.winnable > b.winnable;
  };
  std::stable_sort(result.judged.begin(), result.judged.end(), is_first);
  std::stable_sort(result.together.begin(), result.together.end(), is_first);
  return result;
}

std::string kernel_text(const Trace& trace, const Judged& judged) {
  const NameId short_name = judged.detail(trace).short_name;
  return std::string(trace.name(short_name != 0 ? short_name : judged.group.name));
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", number);
  return text;
}

Finding finding_of(const RuleContext& context, std::string_view rule, const Judged& judged) {
  const Trace& trace = context.trace;
  Finding finding;
  finding.rule = rule;
  finding.place.event = judged.group.longest_launch;
  const Lane& lane = trace.lane(judged.group.longest_launch.lane);
  finding.place.range = {lane.start(judged.group.longest_launch.index), lane.end(judged.group.longest_launch.index)};
  finding.place.gpu = judged.group.gpu;
  finding.place.process = trace.track_of(judged.group.longest_launch.lane).key.process;
  finding.cost = judged.winnable;
  finding.recurrence = judged.group.recurrence;
  return finding;
}

Message launches_text(const Trace& trace, const Judged& judged) {
  std::vector<GpuId> gpus;
  for (const auto& [gpu, kernel] : judged.kernels) gpus.push_back(gpu);
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return Message(gpus.size() > 1 ? "{runs} on {gpus} took {time} in all{alone}" : "{runs} took {time} in all{alone}",
                 {{"runs", counted(judged.group.launches, "run")},
                  {"gpus", gpus_counted(trace, gpus)},
                  {"time", duration_text(judged.group.total)},
                  {"alone", judged.group.alone < judged.group.total
                                ? Message(", {time} of that without another kernel beside it", {{"time", duration_text(judged.group.alone)}})
                                : Message()}});
}

stats::Table table_of(const RuleContext& context, const std::vector<Judged>& judged) {
  const Trace& trace = context.trace;
  const Loop& loop = loop_work(context).loop();
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Alone", stats::Unit::kNanoseconds), stats::integers("Launches"), stats::integers("Blocks"), stats::integers("Threads"),
                      stats::reals("Occupancy", stats::Unit::kPercent), stats::texts("Limited by"), stats::reals("Waves"), stats::integers("SMs"),
                      stats::integers("GPU"), stats::words("When"), stats::texts("Kernel")});
  for (const Judged& row : judged)
    table.add_row(row.winnable, row.group.total, row.group.alone, static_cast<std::int64_t>(row.group.launches), static_cast<std::int64_t>(row.waves.blocks),
                  static_cast<std::int64_t>(kernels::threads_of_block(row.detail(trace))), 100 * row.occupancy.share(),
                  table.add_text(kernels::limiters_text(row.occupancy)), row.waves.waves(), std::int64_t{row.waves.multiprocessors},
                  static_cast<std::int64_t>(trace.gpus()[row.group.gpu].ordinal), table.add_text(std::string(when_text(loop, row.group.recurrence))),
                  table.add_text(std::string(trace.name(row.group.name))));
  std::vector<GpuId> gpus;
  for (const Judged& row : judged) gpus.push_back(row.group.gpu);
  add_files(trace, gpus, table);
  return table;
}

Message unknown_text() { return "The trace lacks the shapes of kernels, or which GPUs they ran on."; }

}  // namespace

void collect_launch_shapes(const RuleContext& context, const RuleArguments& arguments) {
  collect_readings(context);
  context.collectors->want<LaunchCollector>(context, leasts_of(context, arguments.duration("duration")));
}

void collect_low_occupancy(const RuleContext& context, const RuleArguments&) {
  collect_readings(context);
  context.collectors->want<LaunchCollector>(context, leasts_of(context, 0));
}

Result<RuleAnswer> find_small_grids(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const Judgement judgement = judge(context, arguments.duration("duration"), [](const Judged& judged) { return judged.waves.idle_multiprocessors(); });
  RuleAnswer answer;
  Said said;
  for (const Judged& judged : judgement.together) {
    if (percent_of(judged.winnable, judged.whole) < arguments.real("share") || !said.is_new(judged)) continue;
    Finding finding = finding_of(context, "small_grid", judged);
    const std::string all = std::to_string(judged.waves.multiprocessors);
    finding.title = Message(
        "Kernel {kernel} has {blocks} for {all} multiprocessors: on all of them it could save up to {won}.",
        {{"kernel", kernel_text(trace, judged)}, {"blocks", counted(judged.waves.blocks, "block")}, {"all", all}, {"won", duration_text(judged.winnable)}});
    finding.seen =
        Message("{launches}; {without} of {all} multiprocessors had no block of it.",
                {{"launches", launches_text(trace, judged)}, {"without", std::to_string(judged.waves.multiprocessors - judged.waves.blocks)}, {"all", all}});
    if (judged.waves.blocks == 1) {  // serial in this form: the shape does not say whether it could be split
      finding.title = Message("Kernel {kernel} runs as one block on one of {all} multiprocessors.", {{"kernel", kernel_text(trace, judged)}, {"all", all}});
      finding.cost = 0;
    }
    finding.advice = judged.detail(trace).launch_type != 0
                         ? Message("Give it work for more blocks, or run it beside other kernels on a stream of its own.")
                         : Message(
                               "Split the work into more and smaller blocks, do more of it in one launch (a larger batch), or run the kernel beside "
                               "others on a stream of its own.");
    tell_hidden(loop_work(context).awaited(), judged.group.alone, judged.kernels, finding);
    answer.findings.push_back(std::move(finding));
  }
  if (!judgement.judged.empty()) answer.tables.push_back({"small_grid", "Kernels with fewer blocks than multiprocessors", table_of(context, judgement.judged)});
  if (answer.findings.empty())
    answer.message = judgement.shapes_known ? Message("Kernels with fewer blocks than the GPU has multiprocessors cost little time.") : unknown_text();
  return answer;
}

Result<RuleAnswer> find_tail_waves(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const auto most_waves = static_cast<std::uint64_t>(std::max<std::int64_t>(1, arguments.integer("waves")));
  const Judgement judgement = judge(context, arguments.duration("duration"),
                                    [most_waves](const Judged& judged) { return judged.waves.full() <= most_waves ? judged.waves.tail_share() : 0; });
  RuleAnswer answer;
  Said said;
  for (const Judged& judged : judgement.together) {
    if (percent_of(judged.winnable, judged.whole) < arguments.real("share") || !said.is_new(judged)) continue;
    Finding finding = finding_of(context, "tail_wave", judged);
    finding.title = Message("Kernel {kernel} runs in {waves} waves: spread evenly, its blocks could save up to {won}.",
                            {{"kernel", kernel_text(trace, judged)}, {"waves", number_text(judged.waves.waves())}, {"won", duration_text(judged.winnable)}});
    finding.seen = Message("{launches}. The GPU holds {blocks} of it at once; behind {waves} a last one of {last} takes as long.",
                           {{"launches", launches_text(trace, judged)},
                            {"blocks", counted(judged.waves.at_once, "block")},
                            {"waves", counted(judged.waves.full(), "full wave")},
                            {"last", counted(judged.waves.tail(), "block")}});
    finding.advice = Message(
        "Choose the grid so that it fills whole waves of {number} blocks (smaller blocks, or more work in each), or let as many blocks "
        "as fit take work from a loop (a persistent kernel; stream-K of matrix products).",
        {{"number", std::to_string(judged.waves.at_once)}});
    tell_hidden(loop_work(context).awaited(), judged.group.alone, judged.kernels, finding);
    answer.findings.push_back(std::move(finding));
  }
  if (!judgement.judged.empty()) answer.tables.push_back({"tail_wave", "Kernels with a last wave that is not full", table_of(context, judgement.judged)});
  if (answer.findings.empty()) answer.message = judgement.shapes_known ? Message("Last waves that are not full cost little time.") : unknown_text();
  return answer;
}

namespace {

// Kernels that would not profit from room for more warps, whatever their occupancy is, and kernels for which another rule says what helps.
class BoundByOthers {
 public:
  explicit BoundByOthers(const RuleContext& context)
      : trace_(context.trace),
        is_library_product_(trace_, kernels::is_library_product),
        recorded_(kernels::recorded_metrics(trace_, context.time)),
        tells_bounds_(
            std::any_of(context.requests.begin(), context.requests.end(), [](const RuleRequest& each) { return each.rule->name == "kernel_bounds"; })) {}

  bool holds(const Judged& judged) {
    if (judged.waves.blocks <= judged.waves.at_once) return true;  // there are no more blocks
    if (is_library_product_(judged.group.name)) return true;
    if (recorded_.measurements.empty()) return false;
    const auto measured = recorded_.of_kind(trace_.name(judged.group.name), judged.detail(trace_), judged.group.longest_launch);
    if (!measured) return false;
    if (tells_bounds_) return true;
    const kernels::Verdict verdict = kernels::judge(recorded_.metrics, recorded_.metrics.kernels()[*measured]);
    return std::none_of(verdict.advice.begin(), verdict.advice.end(), [](const kernels::Advice& advice) { return advice.rule == "occupancy"; });
  }

 private:
  const Trace& trace_;
  NameMemo<bool> is_library_product_;  // they keep their data in registers on purpose, and their callers can't change that
  const kernels::RecordedMetrics recorded_;
  bool tells_bounds_;
};

}  // namespace

Result<RuleAnswer> find_low_occupancy(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const double least = arguments.real("occupancy") / 100;
  BoundByOthers bound_by_others(context);
  const Judgement judgement = judge(context, 0, [&](const Judged& judged) {
    const bool is_low = judged.occupancy.share() < least && judged.occupancy.blocks > 0;
    return is_low && !bound_by_others.holds(judged) ? 1 - judged.occupancy.share() : 0;
  });
  RuleAnswer answer;
  Said said;
  for (const Judged& judged : judgement.together) {
    if (percent_of(judged.group.alone, judged.whole) < arguments.real("share") || !said.is_new(judged)) continue;
    const std::vector<kernels::Relief> reliefs = kernels::reliefs(judged.detail(trace), judged.multiprocessor);
    if (reliefs.empty()) continue;
    Finding finding = finding_of(context, "low_occupancy", judged);
    finding.cost = 0;
    finding.title =
        Message("Of kernel {kernel} a multiprocessor holds no more than {blocks} at once, {percent} % of the warps that it could: limited by {limits}.",
                {{"kernel", kernel_text(trace, judged)},
                 {"percent", number_text(100 * judged.occupancy.share())},
                 {"limits", kernels::limiters_text(judged.occupancy)},
                 {"blocks", counted(judged.occupancy.blocks, "block")}});
    Message ways;
    for (const kernels::Relief& relief : reliefs) {
      Message way = kernels::relief_text(relief, judged.detail(trace));
      ways = ways.empty() ? std::move(way) : Message("{first}; or {then}", {{"first", std::move(ways)}, {"then", std::move(way)}});
    }
    finding.seen = Message("{launches}, of which more warps could save {won} at most. More occupancy with {ways}.",
                           {{"launches", launches_text(trace, judged)}, {"won", duration_text(judged.winnable)}, {"ways", std::move(ways)}});
    finding.advice =
        "What it would win can't be told from the shape. Few warps are enough for kernels that keep their data in registers; see whether this one waits for "
        "memory (lanescope kernels --section WarpStateStats -- PROGRAM) before you change it.";
    tell_hidden(loop_work(context).awaited(), judged.group.alone, judged.kernels, finding);
    answer.findings.push_back(std::move(finding));
  }
  if (!judgement.judged.empty()) answer.tables.push_back({"low_occupancy", "Kernels of low theoretical occupancy", table_of(context, judgement.judged)});
  if (answer.findings.empty())
    answer.message =
        judgement.shapes_known ? Message("Kernels of low theoretical occupancy take little time, or more warps would not help them.") : unknown_text();
  return answer;
}

}  // namespace lanescope::analysis
