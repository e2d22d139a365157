// small_kernels and staircase: the GPU is faster than the CPU launches.
#include <algorithm>
#include <map>
#include <utility>

#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/events/event_values.h"
#include "threads/call_class.h"

namespace lanescope::analysis {
namespace {

// Between nodes of a CUDA graph the GPU takes about this long; what a gap holds beyond it can be won.
constexpr Nanoseconds kGraphNodeGap = 1'000;

// Operations of a GPU that follow each other.
struct Stretch {
  GpuId gpu = kNone;
  TimeRange range;
  std::uint64_t operations = 0;
  Nanoseconds busy = 0;
  Nanoseconds idle = 0;  // of any cause, where the rule tells causes apart
  Nanoseconds won = 0;   // what the rule counts as winnable
  EventRef first;
  std::uint64_t of_graphs = 0;  // operations that a CUDA graph launched
};

struct KernelSum {
  std::uint64_t count = 0;
  Nanoseconds busy = 0;
  Nanoseconds gaps = 0;  // behind its predecessors
};

Nanoseconds work_span(const std::vector<Stretch>& stretches, Nanoseconds Stretch::*member) {
  Nanoseconds sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.*member;
  return sum;
}

std::uint64_t operations_of(const std::vector<Stretch>& stretches) {
  std::uint64_t sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.operations;
  return sum;
}

// Whether an operation is the loop's, and is not of an iteration in which counters were read: the gaps in front of those are no program's own.
bool is_undisturbed(const LoopWork& work, const Trace& trace, const GpuOperation& operation) {
  return work.has(operation.event, operation.range.begin) && !work.is_disturbed(trace.track_of(operation.event.lane).key.process, operation.range.begin);
}

struct SmallKernelOptions {
  Nanoseconds longest = 0;  // kernels up to this long are small
  Nanoseconds gap = 0;      // and belong to a stretch while gaps are no longer than this
  std::uint64_t least = 0;  // kernels in a stretch
};

// The stretches of small kernels on one GPU; sums by kernel name go to `kernels`.
class SmallKernelStretches {
 public:
  SmallKernelStretches(const RuleContext& context, const LoopWork& work, SmallKernelOptions options)
      : trace_(context.trace), work_(work), time_(context.time), stop_(context.stop), options_(options), communication_(context.trace, is_communication_name) {}

  // Returns the time from the GPU's first operation to its last, as far as it counts.
  Nanoseconds add(GpuId gpu) {
    GpuOperations operations(trace_, gpu, time_, stop_);
    TimeRange extent;
    bool any = false;
    while (const std::optional<GpuOperation> operation = operations.next()) {
      if (!std::exchange(any, true)) extent = {operation->range.begin, operation->range.begin};
      const Nanoseconds gap = operation->range.begin - extent.end;
      const bool counts = is_small(*operation) && is_undisturbed(work_, trace_, *operation);
      if (!counts || gap > options_.gap) close();
      if (counts) append(gpu, *operation, std::max<Nanoseconds>(0, gap));
      before_ = operation->event;
      extent.end = std::max(extent.end, operation->range.end);
    }
    close();
    return work_.undisturbed_span(gpu, work_.of_gpu(gpu, extent));
  }

  std::vector<Stretch> stretches;
  std::map<NameId, KernelSum> kernels;

 private:
  [[nodiscard]] bool is_small(const GpuOperation& operation) {
    return operation.range.length() <= options_.longest && trace_.track_of(operation.event.lane).key.kind == TrackKind::kKernels &&
           !communication_(trace_.lane(operation.event.lane).name(operation.event.index));
  }
  [[nodiscard]] bool is_of_graph(EventRef kernel) const { return trace_.kernel_detail(trace_.lane(kernel.lane).detail(kernel.index)).graph_node != 0; }
  // Whether one launch of a graph brought both kernels.
  [[nodiscard]] bool of_one_launch(EventRef a, EventRef b) const {
    return is_of_graph(a) && is_of_graph(b) && trace_.lane(a.lane).correlation(a.index) == trace_.lane(b.lane).correlation(b.index);
  }
  void append(GpuId gpu, const GpuOperation& operation, Nanoseconds gap) {
    Nanoseconds won = std::max<Nanoseconds>(0, gap - kGraphNodeGap);
    if (open_.operations == 0) {
      open_ = {gpu, operation.range, 0, 0, 0, 0, operation.event};
      gap = won = 0;  // what lies in front of the first is not between small kernels
    } else if (of_one_launch(before_, operation.event)) {
      won = 0;
    }
    ++open_.operations;
    open_.of_graphs += is_of_graph(operation.event) ? 1 : 0;
    open_.range.end = std::max(open_.range.end, operation.range.end);
    open_.busy += operation.range.length();
    open_.won += won;
    const NameId name = trace_.lane(operation.event.lane).name(operation.event.index);
    if (last_sum_ == nullptr || name != last_name_) last_sum_ = &pending_[name];
    last_name_ = name;
    KernelSum& sum = *last_sum_;
    ++sum.count;
    sum.busy += operation.range.length();
    sum.gaps += gap;
  }
  void close() {
    if (open_.operations >= options_.least) {
      stretches.push_back(open_);
      for (const auto& [name, sum] : pending_) {
        KernelSum& total = kernels[name];
        total.count += sum.count;
        total.busy += sum.busy;
        total.gaps += sum.gaps;
      }
    }
    open_ = {};
    if (pending_.empty()) return;
    pending_.clear();
    last_sum_ = nullptr;
  }

  const Trace& trace_;
  const LoopWork& work_;
  TimeRange time_;
  std::stop_token stop_;
  SmallKernelOptions options_;
  NameMemo<bool> communication_;
  Stretch open_;
  EventRef before_;  // the operation in front; while a stretch is open, a kernel of it
  std::map<NameId, KernelSum> pending_;
  KernelSum* last_sum_ = nullptr;  // of pending_, of last_name_: kernels of one name often follow each other
  NameId last_name_ = 0;
};

stats::Table kernel_table(const Trace& trace, const std::map<NameId, KernelSum>& kernels) {
  std::vector<std::pair<NameId, KernelSum>> sorted(kernels.begin(), kernels.end());
  // Numbers of names are the file's: equals stand by their names.
  const auto key = [&](const auto& each) { return std::pair(-each.second.gaps, trace.name(each.first)); };
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  stats::Table table({stats::integers("Gaps Before", stats::Unit::kNanoseconds), stats::integers("Kernels"),
                      stats::integers("Total Time", stats::Unit::kNanoseconds), stats::reals("Avg", stats::Unit::kNanoseconds), stats::texts("Kernel")});
  for (const auto& [name, sum] : sorted)
    table.add_row(sum.gaps, static_cast<std::int64_t>(sum.count), sum.busy, static_cast<double>(sum.busy) / static_cast<double>(sum.count),
                  table.add_text(std::string(trace.name(name))));
  return table;
}

const Stretch& most_winnable(const std::vector<Stretch>& stretches) {
  return *std::max_element(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.won < b.won; });
}

void set_place(const Trace& trace, const Stretch& stretch, Finding& finding) {
  finding.place.range = stretch.range;
  finding.place.event = stretch.first;
  finding.place.gpu = stretch.gpu;
  finding.place.process = trace.track_of(stretch.first.lane).key.process;
}

// Stretches in which each operation started at once when it was enqueued: the queue was empty, and the launches set the pace.
class LaunchBoundStretches {
 public:
  struct Options {
    Nanoseconds latency = 0;  // an operation that starts within this of its launch's end started at once
    Nanoseconds gap = 0;      // longer ones end a stretch
    std::uint64_t least = 0;  // operations in a stretch
  };
  LaunchBoundStretches(const RuleContext& context, const LoopWork& work, Options options)
      : trace_(context.trace), work_(work), launches_(context.launches()), time_(context.time), stop_(context.stop), options_(options) {}

  Nanoseconds add(GpuId gpu) {
    GpuOperations operations(trace_, gpu, time_, stop_);
    TimeRange extent;
    bool any = false;
    while (const std::optional<GpuOperation> operation = operations.next()) {
      if (!std::exchange(any, true)) extent = {operation->range.begin, operation->range.begin};
      const bool at_once = is_undisturbed(work_, trace_, *operation) && started_at_once(*operation);
      if (!at_once || operation->range.begin - extent.end > options_.gap) close();
      if (at_once) append(gpu, *operation);
      extent.end = std::max(extent.end, operation->range.end);
    }
    close();
    return work_.undisturbed_span(gpu, work_.of_gpu(gpu, extent));
  }

  std::vector<Stretch> stretches;

 private:
  [[nodiscard]] bool started_at_once(const GpuOperation& operation) const {
    const Event work = trace_.event(operation.event);
    const EventRef launch = launches_.find(trace_.track_of(operation.event.lane).key.process, work.correlation, work.start);
    return launch.valid() && operation.range.begin - trace_.lane(launch.lane).end(launch.index) <= options_.latency;
  }
  void append(GpuId gpu, const GpuOperation& operation) {
    if (open_.operations == 0) open_ = {gpu, operation.range, 0, 0, 0, 0, operation.event};
    ++open_.operations;
    open_.range.end = std::max(open_.range.end, operation.range.end);
    open_.busy += operation.range.length();
  }
  void close() {
    if (open_.operations >= options_.least) stretches.push_back(open_);
    open_ = {};
  }

  const Trace& trace_;
  const LoopWork& work_;
  const LaunchIndex& launches_;
  TimeRange time_;
  std::stop_token stop_;
  Options options_;
  Stretch open_;
};

// Adds the idle time in the stretches, and what of it launching or CPU code between launches caused. Stretches are dropped in which something else
// caused more: each operation starts at once there as well, behind what blocks the thread.
void add_launch_idle(const RuleContext& context, const LoopWork& work, std::vector<Stretch>& stretches) {
  std::size_t at = 0;  // stretches and gaps both come GPU by GPU, in order of time
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    while (at < stretches.size() && (stretches[at].gpu < gap.gpu || (stretches[at].gpu == gap.gpu && stretches[at].range.end <= gap.range.begin))) ++at;
    const bool inside = at < stretches.size() && stretches[at].gpu == gap.gpu && stretches[at].range.begin < gap.range.begin;
    if (!inside || !gap.launch.valid()) return;
    for (const IdlePart& part : parts) {
      if (!work.has(gap, part)) continue;
      stretches[at].idle += part.range.length();
      if (part.cause == IdleCause::kLaunch || part.cause == IdleCause::kCpuCode) stretches[at].won += part.range.length();
    }
  };
  visit_idle(context, 1, add);
  std::erase_if(stretches, [](const Stretch& stretch) { return stretch.won == 0 || stretch.won < stretch.idle - stretch.won; });
}

stats::Table stretch_table(const Trace& trace, const std::vector<Stretch>& stretches) {
  stats::Table table({stats::integers("Launch-Bound Idle", stats::Unit::kNanoseconds), stats::integers("Idle", stats::Unit::kNanoseconds),
                      stats::integers("Start", stats::Unit::kNanoseconds), stats::integers("Duration", stats::Unit::kNanoseconds),
                      stats::integers("Operations"), stats::integers("Busy", stats::Unit::kNanoseconds), stats::integers("GPU")});
  for (const Stretch& stretch : stretches)
    table.add_row(stretch.won, stretch.idle, stretch.range.begin, stretch.range.length(), static_cast<std::int64_t>(stretch.operations), stretch.busy,
                  static_cast<std::int64_t>(trace.gpus()[stretch.gpu].ordinal));
  std::vector<GpuId> gpus;
  for (const Stretch& stretch : stretches) gpus.push_back(stretch.gpu);
  add_files(trace, gpus, table);
  return table;
}

}  // namespace

Result<RuleAnswer> find_small_kernels(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(2, arguments.integer("run")));
  const LoopWork& work = loop_work(context);
  SmallKernelStretches found(context, work, {arguments.duration("duration"), arguments.duration("gap"), least});
  Nanoseconds span = 0;
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) span += found.add(gpu);
  RuleAnswer answer;
  const Nanoseconds won = work_span(found.stretches, &Stretch::won);
  if (won > 0 && percent_of(won, span) >= arguments.real("share")) {
    const std::uint64_t kernels = operations_of(found.stretches);
    const Nanoseconds busy = work_span(found.stretches, &Stretch::busy);
    Finding finding;
    finding.rule = "small_kernels";
    finding.title = Message("{kernels} of at most {longest} follow each other closely; of the gaps between them about {won} ({share} of {loop}) could be won.",
                            {{"kernels", counted(kernels, "kernel")},
                             {"longest", duration_text(arguments.duration("duration"))},
                             {"won", duration_text(won)},
                             {"share", percent_text(won, span)},
                             {"loop", work.text()}});
    const Stretch& most = most_winnable(found.stretches);
    finding.seen = Message("{sequences} with kernels of {average} on average{one}.",
                           {{"sequences", counted(found.stretches.size(), "dense sequence")},
                            {"average", duration_text(busy / static_cast<Nanoseconds>(kernels))},
                            {"one", found.stretches.size() > 1 ? Message("; in one of {time}, {won} could be won",
                                                                         {{"time", duration_text(most.range.length())}, {"won", duration_text(most.won)}})
                                                               : Message()}});
    set_place(trace, most, finding);
    finding.cost = won;
    std::uint64_t of_graphs = 0;
    for (const Stretch& stretch : found.stretches) of_graphs += stretch.of_graphs;
    finding.advice = of_graphs >= kernels / 2 ? Message("CUDA graphs launch them already: put more into one graph, or fuse the kernels.")
                                              : Message(
                                                    "Record the sequence once as a CUDA graph and launch that (PyTorch: torch.compile with "
                                                    "mode=\"reduce-overhead\"), or fuse the kernels.");
    answer.findings.push_back(std::move(finding));
    answer.tables.push_back({"small_kernels", "Small kernels in dense stretches", kernel_table(trace, found.kernels)});
  } else {
    answer.message = "No dense stretches of small kernels that cost time.";
  }
  return answer;
}

Result<RuleAnswer> find_staircase(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(2, arguments.integer("run")));
  const LoopWork& work = loop_work(context);
  LaunchBoundStretches found(context, work, {arguments.duration("latency"), arguments.duration("gap"), least});
  Nanoseconds span = 0;
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) span += found.add(gpu);
  if (!found.stretches.empty()) add_launch_idle(context, work, found.stretches);
  RuleAnswer answer;
  const Nanoseconds won = work_span(found.stretches, &Stretch::won);
  if (won == 0 || percent_of(won, span) < arguments.real("share")) {
    answer.message = "The GPU did not run at the pace of launches for any length of time.";
    return answer;
  }
  const auto operations = static_cast<Nanoseconds>(operations_of(found.stretches));
  Nanoseconds length = 0;
  for (const Stretch& stretch : found.stretches) length += stretch.range.length();
  Finding finding;
  finding.rule = "staircase";
  finding.title = Message(
      "For {length} the GPU ran at the pace of launches: each of {operations} started as soon as it was enqueued, and the GPU was "
      "idle for {idle} between them; launches and the code between them took {won} ({share} of {loop}) of that.",
      {{"length", duration_text(length)},
       {"operations", counted(static_cast<std::uint64_t>(operations), "operation")},
       {"idle", duration_text(work_span(found.stretches, &Stretch::idle))},
       {"won", duration_text(won)},
       {"share", percent_text(won, span)},
       {"loop", work.text()}});
  const Stretch& most = most_winnable(found.stretches);
  finding.seen = Message(
      "One operation each {pace}, and each keeps the GPU busy for {busy} on average{one}.",
      {{"pace", duration_text(length / operations)},
       {"busy", duration_text(work_span(found.stretches, &Stretch::busy) / operations)},
       {"one", found.stretches.size() > 1 ? Message("; one of the stretches took {time}", {{"time", duration_text(most.range.length())}}) : Message()}});
  set_place(trace, most, finding);
  finding.cost = won;
  finding.advice =
      "The CPU is the bottleneck: launch more work at once (larger batches, CUDA graphs, fused kernels), or make the code between launches "
      "faster.";
  answer.findings.push_back(std::move(finding));
  answer.tables.push_back({"staircase", "Stretches at the pace of launches", stretch_table(trace, found.stretches)});
  return answer;
}

}  // namespace lanescope::analysis
